// A tool whose every call is asked about, unless a rule or an answer that lasts speaks of it.
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as SandboxMode from "@dsh/sandbox/SandboxMode"
import type { SandboxMode as Mode } from "@dsh/world/Confinement"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Approval from "../src/Approval.ts"
import * as Grants from "../src/Grants.ts"
import * as PermissionRules from "../src/PermissionRules.ts"
import type { Effects } from "../src/Rules.ts"
import * as ToolApproval from "../src/ToolApproval.ts"
import { ask, done, folder, given, make, ofType, results, world } from "./support.ts"

const calls = LlmScripted.Reply.calls(
  ["a", "b"].map((url, i) => ({ name: "web_fetch", id: `call-${i}`, arguments: { url } }))
)

/** An agent that makes two calls, under rules, and who is asked. */
const agent = (
  lists: Partial<Record<Effects, ReadonlyArray<string>>> = {},
  ...answers: ReadonlyArray<Approval.Outcome>
) => {
  const left = [...answers]
  const asking = Approval.AnswerApproval.hook("test", () => Effect.sync(() => left.shift() ?? "unavailable"))
  const gate = ToolApproval.layer({ tool: "web_fetch", what: "looking outside" })
  return world(
    [calls, done],
    PermissionRules.layerMemory(given(lists)),
    Layer.mergeAll(asking, gate, Layer.orDie(SandboxMode.events))
  )
}

/** What became of the two calls, and how often somebody was asked. */
const run = (mode: Mode = "workspace-write", policy: Approval.Policy = "ask") =>
  Effect.gen(function* () {
    const { session, ...made } = yield* make({ cwd: yield* folder })
    yield* SandboxMode.set(session, mode)
    yield* (yield* Approval.Approval).setPolicy(session, policy)
    yield* ask({ session, ...made })
    const ended = results(session).map((text) => (text.startsWith("fetched") ? "run" : "refused"))
    return { session, ended: ended.join(" "), asked: ofType(session, "approval/asked").length }
  })

describe("a tool that is asked about", () => {
  it.scopedLive("runs when somebody says so: once, for the session, for good", () =>
    Effect.gen(function* () {
      const nobody = yield* Effect.provide(run(), agent())
      assert.deepInclude(nobody, { ended: "refused refused", asked: 2 })
      assert.strictEqual(
        results(nobody.session)[0],
        "Error: this call needs an approval and nobody is there to give it (no rule allows looking outside; the user can allow it: dsh permission allow 'web_fetch')"
      )
      assert.lengthOf(ofType(nobody.session, "permission/decision"), 2)
      const once = yield* Effect.provide(run(), agent({}, "allowed-once", "rejected"))
      assert.deepInclude(once, { ended: "run refused", asked: 2 })
      const session = yield* Effect.provide(run(), agent({}, "rejected", "allowed-session"))
      assert.deepInclude(session, { ended: "refused run", asked: 2 })
      assert.lengthOf(Grants.inLog(session.session.range(0)), 1)
    })
  )

  it.scopedLive("is not asked about where a rule speaks of it, nor by who has full access and asks nobody", () =>
    Effect.gen(function* () {
      const allowed = yield* Effect.provide(run(), agent({ allow: ["web_fetch"] }))
      assert.deepInclude(allowed, { ended: "run run", asked: 0 })
      const denied = yield* Effect.provide(run("danger-full-access", "never"), agent({ deny: ["web_fetch"] }))
      assert.deepInclude(denied, { ended: "refused refused", asked: 0 })
      const free = yield* Effect.provide(run("danger-full-access", "never"), agent())
      assert.deepInclude(free, { ended: "run run", asked: 0 })
      const careful = yield* Effect.provide(run("danger-full-access", "ask"), agent({}, "allowed-once"))
      assert.deepInclude(careful, { ended: "run refused", asked: 2 })
    })
  )

  it.scopedLive("does not run in a session that may change nothing, whatever allows it", () =>
    Effect.gen(function* () {
      const held = yield* Effect.provide(run("read-only"), agent({ allow: ["web_fetch"] }, "allowed-once"))
      assert.deepInclude(held, { ended: "refused refused", asked: 0 })
      assert.match(results(held.session)[0] ?? "", /looking outside is a change, and this session may change nothing/)
    })
  )
})
