// Presets: pinned when a session begins, kept when it goes on, and told by what is in force.
import * as SandboxMode from "@dsh/sandbox/SandboxMode"
import { Agents } from "@dsh/agent/Agents"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import type { Session } from "@dsh/session/Session"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Approval from "../src/Approval.ts"
import * as PermissionPresets from "../src/PermissionPresets.ts"
import { ask, done, make } from "./support.ts"

const world = (options?: PermissionPresets.Options) =>
  AgentLoop.layer.pipe(
    Layer.provideMerge(Layer.merge(LlmScripted.layer([done, done]), PermissionPresets.layer(options))),
    Layer.provideMerge(Approval.layer()),
    Layer.provideMerge(Definitions.layer)
  )

const types = ["permission/preset", "sandbox/mode", "approval/policy"]

/** What the log says of permissions. */
const said = (session: Session) =>
  Array.from(session.range(0)).flatMap(({ data, type }) => (types.includes(type) ? [Object.values(data).join()] : []))

const presets = PermissionPresets.PermissionPresets

describe("a permission preset", () => {
  it.scoped("is pinned when a session is created, with all that it stands for", () =>
    Effect.gen(function* () {
      const { session } = yield* make()
      assert.deepStrictEqual(said(session), ["workspace-write", "workspace-write", "ask"])
      assert.strictEqual((yield* presets).current(session), "workspace-write")
    }).pipe(Effect.provide(world()))
  )

  it.scoped("is that of its log in a fork, whatever the default is by then", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* (yield* presets).set(agent.session, "read-only")
      yield* ask(agent)
      const agents = yield* Agents
      const fork = yield* agents.fork({
        source: agent.id,
        provider: LlmScripted.provider,
        model: LlmScripted.model
      })
      assert.strictEqual((yield* presets).current(fork.session), "read-only")
      assert.deepStrictEqual(said(fork.session), said(agent.session))
    }).pipe(Effect.provide(world({ preset: "danger-full-access" })))
  )

  it.scoped("logs only what changes", () =>
    Effect.gen(function* () {
      const { session } = yield* make()
      const { set } = yield* presets
      yield* set(session, "workspace-write")
      assert.lengthOf(said(session), 3)
      yield* set(session, "read-only")
      assert.deepStrictEqual(said(session).slice(3), ["read-only", "read-only"])
      yield* set(session, "danger-full-access")
      assert.deepStrictEqual(said(session).slice(5), ["danger-full-access", "danger-full-access", "never"])
    }).pipe(Effect.provide(world()))
  )

  it.scoped("is told by what is in force: another one that fits, or custom", () =>
    Effect.gen(function* () {
      const { session } = yield* make()
      const { current, set } = yield* presets
      const approval = yield* Approval.Approval
      yield* SandboxMode.set(session, "read-only", "delegation")
      assert.strictEqual(current(session), "read-only")
      yield* approval.setPolicy(session, "never")
      assert.strictEqual(current(session), "custom")
      yield* approval.setPolicy(session, "ask")
      yield* SandboxMode.set(session, "workspace-write")
      assert.strictEqual(current(session), "workspace-write")
      // It was chosen first, and it is chosen again.
      yield* approval.setPolicy(session, "never")
      yield* set(session, "workspace-write")
      assert.deepStrictEqual(said(session).slice(-2), ["workspace-write", "ask"])
    }).pipe(Effect.provide(world()))
  )

  it.scoped("has to be one of the table, and nobody's is called custom", () =>
    Effect.gen(function* () {
      const { session } = yield* make()
      const error = yield* Effect.flip((yield* presets).set(session, "readonly"))
      assert.strictEqual(
        error.message,
        `there is no permission preset "readonly"; use one of read-only, workspace-write, danger-full-access`
      )
      assert.strictEqual((yield* Effect.flip((yield* presets).set(session, "custom"))).code, "UNKNOWN_PRESET")
      const built = (options: PermissionPresets.Options) =>
        Effect.flip(Effect.scoped(Layer.build(world(options)))).pipe(Effect.map(({ code }) => code))
      assert.strictEqual(yield* built({ preset: "readonly" }), "UNKNOWN_PRESET")
      const { custom = undefined, ...rest } = { ...PermissionPresets.standard }
      assert.isUndefined(custom)
      const preset = rest["read-only"]!
      assert.strictEqual(yield* built({ table: { custom: preset, "workspace-write": preset } }), "RESERVED_PRESET")
    }).pipe(Effect.provide(world()))
  )
})
