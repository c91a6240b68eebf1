// Agents over stored sessions: what is taken up again and what is not.
import { Agents } from "@dsh/agent/Agents"
import * as AgentHooks from "@dsh/agent/AgentHooks"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import { SessionId } from "@dsh/protocol/Ids"
import { verify } from "@dsh/protocol/Verify"
import { neutral } from "@dsh/protocol/NeutralRequest"
import { newHash } from "@dsh/llm/RequestDigest"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import { SessionRestore } from "@dsh/session/Sessions"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { ask, events, make, outline, world } from "./support.ts"

const { Reply } = LlmScripted

/** Keeps what a test puts aside, as a store would. */
const shelf = () => {
  const stored = new Map<string, { readonly header: SessionHeader; readonly entries: ReadonlyArray<SessionEvent> }>()
  const layer = SessionRestore.hook("shelf", ({ id }) => Effect.succeed(Option.fromNullable(stored.get(id))))
  return { stored, layer }
}

const id = SessionId("s")

describe("a resumed agent", () => {
  it.scoped("goes on where the session was: model, call ids, turn numbers, and input that waits for a wake", () => {
    const { layer, stored } = shelf()
    const sources: Array<string> = []
    const watch = AgentHooks.SessionStart.hook("watch", ({ source }) => Effect.sync(() => void sources.push(source)))
    const script = [
      Reply.calls([{ name: "echo", arguments: { text: "one" } }]),
      Reply.text("done"),
      Reply.text("again")
    ]
    return Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const agent = yield* make({ id, cwd: "/w" })
          yield* ask(agent, "go")
          yield* agent.whenIdle
          yield* agent.inject("by the way")
          stored.set(id, { header: agent.session.header, entries: events(agent.session) })
        })
      )
      const agent = yield* (yield* Agents).resume({ id })
      assert.deepStrictEqual(sources, ["startup", "resume"])
      assert.strictEqual(agent.session.header.cwd, "/w")
      assert.strictEqual(agent.status(), "idle")
      assert.strictEqual(agent.session.inbox["next-step"].length, 1)
      const outcome = yield* ask(agent, "and now?")
      assert.deepStrictEqual(outcome, { turn: 2, reason: { kind: "completed" }, entered: true })
      yield* agent.whenIdle
      assert.deepStrictEqual(outline(agent.session).slice(-10), [
        "session/end-seed",
        "queue next-turn",
        "turn 2",
        "step 1",
        "user by the way",
        "user and now?",
        "header resume",
        "assistant again",
        "end step 1",
        "end turn 2 completed"
      ])
      const verified = [...verify(agent.session.range(0), () => neutral, newHash)]
      assert.strictEqual(verified.length, 3)
      assert.isTrue(verified.every(({ problem }) => problem === undefined))
    }).pipe(Effect.provide(world(script, Layer.merge(layer, watch))))
  })

  it.scoped("is refused for a session that nobody keeps", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip((yield* Agents).resume({ id }))
      assert.strictEqual("code" in error && error.code, "SESSION_NOT_FOUND")
    }).pipe(Effect.provide(world([])))
  )
})
