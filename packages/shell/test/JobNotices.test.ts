// An agent hears of the end of its jobs: at its next request, or woken for it, a few times.
import { Agents } from "@dsh/agent/Agents"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import { textOf } from "@dsh/protocol/Block"
import type { Session } from "@dsh/session/Session"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import * as JobNotices from "../src/JobNotices.ts"
import { Jobs } from "../src/Jobs.ts"
import type { Ended } from "../src/Jobs.ts"
import * as JobsLocal from "../src/JobsLocal.ts"

const { Reply } = LlmScripted

const world = (options: JobNotices.Options, replies: number) =>
  JobNotices.layer(options).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        JobsLocal.layer(),
        AgentLoop.layer,
        LlmScripted.layer(Array.from({ length: replies }, (_, i) => Reply.text(`answer ${i}`)))
      )
    ),
    Layer.provideMerge(Definitions.layer)
  )

const agent = Effect.flatMap(Agents, (agents) =>
  agents.create({ provider: LlmScripted.provider, model: LlmScripted.model })
)

/** A job of the session that is over. */
const over = (session: Session) =>
  Effect.gen(function* () {
    const jobs = yield* Jobs
    const end = yield* Deferred.make<Ended>()
    const begin = Effect.succeed({ done: Deferred.await(end), output: Effect.succeed("") })
    const { id } = yield* jobs.start({ kind: "test", label: "npm run build", session, begin })
    yield* Deferred.succeed(end, { status: "failed", detail: "exit code 1" })
    yield* Effect.iterate("running", {
      while: (status) => status === "running",
      body: () =>
        Effect.zipRight(
          Effect.yieldNow(),
          Effect.map(jobs.list(session), (all) => all.find((job) => job.id === id)?.status ?? "")
        )
    })
    return id
  })

const turns = (session: Session) => [...session.range(0)].filter(({ type }) => type === "turn/end").length

const heard = (session: Session) =>
  session.conversation.messages.filter(({ role }) => role === "user").map(({ content }) => textOf(content))

describe("JobNotices", () => {
  it.scoped("wakes an idle agent, until it has done so a few times and nobody said anything", () =>
    Effect.gen(function* () {
      const one = yield* agent
      const { session } = one
      for (const expected of [1, 2, 2]) {
        yield* over(session)
        yield* one.whenIdle
        assert.strictEqual(turns(session), expected)
      }
      assert.match(
        heard(session)[0] ?? "",
        /^The background job test-1 \(npm run build\) is over: failed, exit code 1\. /
      )
      assert.lengthOf(session.inbox["next-step"], 1)
      yield* one.awaitTurn(yield* one.followup("go on"))
      yield* one.whenIdle
      assert.lengthOf(heard(session), 4)
      yield* over(session)
      yield* one.whenIdle
      assert.strictEqual(turns(session), 4)
    }).pipe(Effect.provide(world({ maxWakes: 2 }, 4)))
  )

  it.scoped("wakes nobody when that is not wanted, and does not repeat what was seen", () =>
    Effect.gen(function* () {
      const one = yield* agent
      const { session } = one
      yield* over(session)
      yield* one.whenIdle
      assert.strictEqual(turns(session), 0)
      assert.lengthOf(session.inbox["next-step"], 1)
      const jobs = yield* Jobs
      const { id } = yield* jobs.start({
        kind: "test",
        label: "work",
        session,
        begin: Effect.succeed({ done: Effect.never, output: Effect.succeed("") })
      })
      yield* jobs.kill(id, session)
      yield* jobs.read(id, session, 1000)
      assert.lengthOf(session.inbox["next-step"], 1)
    }).pipe(Effect.provide(world({ wake: false }, 0)))
  )
})
