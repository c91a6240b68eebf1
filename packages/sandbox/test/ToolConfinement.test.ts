// What a tool call may do: as its session says, and once in a while more, if somebody allows it.
import { CallId } from "@dsh/protocol/Ids"
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import * as Sessions from "@dsh/session/Sessions"
import type { Session } from "@dsh/session/Session"
import * as Tool from "@dsh/tools/Tool"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import type { Approval } from "@dsh/tools/ToolHooks"
import * as Pipeline from "@dsh/tools/ToolPipeline"
import * as Tools from "@dsh/tools/Tools"
import { CurrentConfinement } from "@dsh/world/Confinement"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Schema, TestClock } from "effect"
import {
  existsSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  mkdirSync,
  readdirSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Escalation from "../src/Escalation.ts"
import * as SandboxEscalation from "../src/SandboxEscalation.ts"
import { SandboxPolicy } from "../src/SandboxPolicy.ts"
import * as SandboxPolicyLocal from "../src/SandboxPolicyLocal.ts"
import * as ToolConfinement from "../src/ToolConfinement.ts"

/** Says how it is confined. */
const look = Tool.make({
  name: "look",
  description: "Looks.",
  parameters: Schema.Struct(Escalation.fields),
  output: Schema.String,
  execute: () =>
    Effect.map(CurrentConfinement, (held) => (held === undefined ? "not at all" : `${held.mode} ${held.workspace}`)),
  render: (_, value) => value
})

const definitions = Layer.mergeAll(Sessions.layer, Tools.layer, ToolHooks.layer, SystemPrompt.layer)

const inWorld =
  (options: SandboxPolicyLocal.Options = {}) =>
  <A, E, R>(test: Effect.Effect<A, E, R>) =>
    Effect.provide(
      test,
      Layer.mergeAll(Tools.layerTool(look), ToolConfinement.layer, SandboxEscalation.layer(["look"])).pipe(
        Layer.provideMerge(SandboxPolicyLocal.layer(options)),
        Layer.provideMerge(definitions)
      )
    )

const call = (session: Session | undefined, args: object = {}) =>
  Effect.map(Pipeline.execute({ callId: CallId("c"), name: "look", arguments: args, session }), ({ content }) =>
    content[0]?.type === "text" ? content[0].text : ""
  )

const answering = (answer: Approval) => {
  const asked: Array<string | undefined> = []
  const layer = ToolHooks.AskApproval.hook("test", ({ reason }) =>
    Effect.sync(() => {
      asked.push(reason)
      return Option.some(answer)
    })
  )
  return { asked, layer }
}

const folder = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "dsh-policy-")))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

describe("the confinement of a tool call", () => {
  it.scoped("is what the log says last, else the standing one, else the one that can do no harm", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const session = yield* (yield* Sessions.Sessions).create({ cwd })
      const policy = yield* SandboxPolicy
      assert.strictEqual(yield* call(session), `read-only ${cwd}`)
      yield* policy.setMode(session, "workspace-write")
      yield* policy.setMode(session, "workspace-write")
      assert.strictEqual(yield* call(session), `workspace-write ${cwd}`)
      const logged = [...session.range(0)].filter(({ type }) => type === "sandbox/mode")
      assert.strictEqual(logged.length, 1)
      const other = yield* (yield* Sessions.Sessions).create({ cwd })
      assert.strictEqual(yield* call(other), `read-only ${cwd}`)
      assert.match(yield* call(undefined), /^read-only /)
    }).pipe(inWorld())
  )

  it.scoped("comes with a private /tmp, which goes with the process when it is empty", () =>
    Effect.gen(function* () {
      const parent = join(yield* folder, "temps")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const session = yield* (yield* Sessions.Sessions).create({ cwd: "/" })
          const { temp } = yield* (yield* SandboxPolicy).of(session)
          assert.strictEqual(statSync(temp).mode & 0o777, 0o700)
          assert.isTrue(temp.startsWith(parent))
        }).pipe(inWorld({ tempParent: parent }))
      )
      assert.isFalse(existsSync(parent))
    })
  )

  it.scoped("comes with a private /tmp; those that nobody has used for long go, once a day where there are many", () =>
    Effect.gen(function* () {
      const parent = join(yield* folder, "temps")
      const [now, day] = [1_800_000_000, 24 * 3600]
      const put = (name: string, days: number, file?: string) => {
        mkdirSync(join(parent, name), { recursive: true, mode: 0o700 })
        if (file !== undefined) writeFileSync(join(parent, name, file), "")
        const time = now - days * day
        utimesSync(join(parent, name), time, time)
      }
      const session = Effect.scoped(
        Effect.gen(function* () {
          const created = yield* (yield* Sessions.Sessions).create({ cwd: "/" })
          yield* (yield* SandboxPolicy).of(created)
        }).pipe(inWorld({ tempParent: parent }))
      )
      const left = () => readdirSync(parent).filter((name) => !name.startsWith("."))
      mkdirSync(parent, { mode: 0o700 })
      put("empty", 0.5)
      put("empty-old", 2)
      put("full", 2, "a")
      put("full-old", 8, "a")
      yield* TestClock.setTime(now * 1000)
      yield* session
      assert.deepStrictEqual(left(), ["empty", "full"])
      for (let i = 0; i < 101; i++) put(`more-${i}`, 0)
      put("full-old", 8, "a")
      yield* session
      assert.lengthOf(left(), 103)
      put("full-old", 8, "a")
      yield* session
      assert.include(left(), "full-old")
      yield* TestClock.adjust("2 days")
      yield* session
      assert.deepStrictEqual(left(), ["full"])
    })
  )

  it.scoped("is wider for one call that somebody allows, and for no other", () => {
    const { asked, layer } = answering("allowed-once")
    return Effect.gen(function* () {
      const cwd = yield* folder
      const session = yield* (yield* Sessions.Sessions).create({ cwd })
      const args = { sandbox_permissions: "workspace-write", justification: "to build" }
      assert.strictEqual(yield* call(session, args), `workspace-write ${cwd}`)
      assert.deepStrictEqual(asked, ["with workspace-write: to build"])
      assert.strictEqual(yield* call(session), `read-only ${cwd}`)
    }).pipe(Effect.provide(layer), inWorld())
  })

  it.scoped("is not wider when it is not allowed, and the call does not run", () =>
    Effect.gen(function* () {
      const session = yield* (yield* Sessions.Sessions).create({ cwd: "/" })
      const args = { sandbox_permissions: "danger-full-access", justification: "to build" }
      for (const answer of ["rejected", "cancelled", "unavailable"] as const) {
        const { layer } = answering(answer)
        assert.match(yield* Effect.provide(call(session, args), layer), /^Error: .*to build/)
      }
      assert.match(yield* call(session, args), /nobody is there to give it/)
    }).pipe(inWorld())
  )

  it.scoped("is nobody's question when it is no widening, or comes without a reason", () => {
    const { asked, layer } = answering("allowed-once")
    return Effect.gen(function* () {
      const session = yield* (yield* Sessions.Sessions).create({ cwd: "/" })
      yield* (yield* SandboxPolicy).setMode(session, "workspace-write")
      for (const args of [
        { sandbox_permissions: "workspace-write", justification: "again" },
        { sandbox_permissions: "danger-full-access" },
        { sandbox_permissions: "danger-full-access", justification: " " },
        { justification: "just so" }
      ]) {
        assert.match(yield* call(session, args), /^Error: /)
      }
      assert.match(
        yield* call(undefined, { sandbox_permissions: "danger-full-access", justification: "x" }),
        /^Error: only an agent/
      )
      assert.deepStrictEqual(asked, [])
    }).pipe(Effect.provide(layer), inWorld())
  })
})
