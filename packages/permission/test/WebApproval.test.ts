// Hosts that an agent wants to fetch from for the first time.
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as SandboxMode from "@dsh/sandbox/SandboxMode"
import type { SandboxMode as Mode } from "@dsh/world/Confinement"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Approval from "../src/Approval.ts"
import type { Policy } from "../src/Approval.ts"
import * as Grants from "../src/Grants.ts"
import * as PermissionRules from "../src/PermissionRules.ts"
import type { Effects } from "../src/Rules.ts"
import * as WebApproval from "../src/WebApproval.ts"
import { ask, done, folder, given, make, ofType, results, world } from "./support.ts"

const fetching = (...urls: ReadonlyArray<string>) =>
  LlmScripted.Reply.calls(urls.map((url, i) => ({ name: "web_fetch", id: `call-${i}`, arguments: { url } })))

/** An agent that fetches, under rules, and who is asked. */
const agent = (
  urls: ReadonlyArray<string>,
  lists: Partial<Record<Effects, ReadonlyArray<string>>> = {},
  ...answers: ReadonlyArray<Approval.Outcome>
) => {
  const left = [...answers]
  const asking = Approval.AnswerApproval.hook("test", () => Effect.sync(() => left.shift() ?? "unavailable"))
  const rules = PermissionRules.layerMemory(given(lists))
  return world(
    [fetching(...urls), done],
    rules,
    Layer.mergeAll(asking, WebApproval.layer, Layer.orDie(SandboxMode.events))
  )
}

const outcomes = (session: Parameters<typeof results>[0]) =>
  results(session).map((text) => (text.startsWith("fetched") ? "fetched" : "refused"))

const run = (mode?: Mode, policy?: Policy) =>
  Effect.gen(function* () {
    const made = yield* make({ cwd: yield* folder })
    if (mode !== undefined) yield* SandboxMode.set(made.session, mode)
    if (policy !== undefined) yield* (yield* Approval.Approval).setPolicy(made.session, policy)
    yield* ask(made)
    return made
  })

const asked = (session: Parameters<typeof ofType>[0]) => ofType(session, "approval/asked").length

const page = ["https://Docs.example.com./a?secret"]

describe("a host", () => {
  it.scopedLive("that no rule speaks of is asked about, and refused where nobody is there", () =>
    Effect.gen(function* () {
      const { session } = yield* run()
      const hint = "dsh permission allow 'web_fetch(domain:docs.example.com)'"
      assert.deepStrictEqual(results(session), [
        `Error: this call needs an approval and nobody is there to give it (no rule allows fetching from docs.example.com; the user can allow it: ${hint})`
      ])
      assert.deepStrictEqual(
        ofType(session, "permission/decision").map(({ data }) => [
          data.decision,
          data.toolName,
          data.callId.toString()
        ]),
        [["ask", "web_fetch", "call-0"]]
      )
    }).pipe(Effect.provide(agent(page)))
  )

  it.scopedLive("is allowed once, for the session until that is taken back, or for good", () =>
    Effect.gen(function* () {
      const urls = ["https://a.example/1", "https://a.example/2", "http://a.example:8080/3", "https://b.a.example/"]
      const once = yield* Effect.provide(run(), agent(urls, {}, "allowed-once", "allowed-once"))
      assert.deepStrictEqual(outcomes(once.session), ["fetched", "fetched", "refused", "refused"])

      yield* Effect.gen(function* () {
        const { session } = yield* run()
        assert.deepStrictEqual(outcomes(session), ["fetched", "fetched", "fetched", "refused"])
        assert.strictEqual(asked(session), 2)
        assert.deepStrictEqual(Grants.inLog(session.range(0)), ["web_fetch(domain:a.example)"])
        assert.isTrue(yield* Grants.revoke(session, "web_fetch(domain:a.example)"))
      }).pipe(Effect.provide(agent(urls, {}, "allowed-session")))

      yield* Effect.gen(function* () {
        yield* run()
        const { rules } = yield* (yield* PermissionRules.PermissionRules).of("/")
        assert.deepStrictEqual(
          rules.map(({ effect, rule }) => `${effect} ${rule.text}`),
          ["allow web_fetch(domain:a.example)"]
        )
      }).pipe(Effect.provide(agent(urls, {}, "allowed-always")))
    })
  )

  it.scopedLive("is not asked about where a rule allows or denies it", () =>
    Effect.gen(function* () {
      const { session } = yield* run()
      assert.deepStrictEqual(outcomes(session), ["fetched", "fetched", "refused", "refused"])
      assert.strictEqual(asked(session), 1)
    }).pipe(
      Effect.provide(
        agent(["https://a.example/", "https://x.b.example/", "https://c.example/", "https://other.example/"], {
          allow: ["web_fetch(domain:a.example)", "web_fetch(domain:*.b.example)"],
          deny: ["web_fetch(domain:c.example)"]
        })
      )
    )
  )

  it.scopedLive("is asked about once where a rule asks", () =>
    Effect.gen(function* () {
      const { session } = yield* run("danger-full-access", "ask")
      assert.deepStrictEqual(outcomes(session), ["fetched"])
      assert.strictEqual(asked(session), 1)
      assert.strictEqual(ofType(session, "permission/decision").length, 1)
    }).pipe(Effect.provide(agent(page, { ask: ["web_fetch"] }, "allowed-once")))
  )

  it.scopedLive("is fetched from by who has full access and asks nobody, unless a rule denies it", () =>
    Effect.gen(function* () {
      const free = yield* Effect.provide(run("danger-full-access", "never"), agent(page))
      assert.deepStrictEqual(outcomes(free.session), ["fetched"])
      const held = yield* Effect.provide(run("workspace-write", "never"), agent(page))
      assert.deepStrictEqual(outcomes(held.session), ["refused"])
      const careful = yield* Effect.provide(run("danger-full-access", "ask"), agent(page))
      assert.deepStrictEqual(outcomes(careful.session), ["refused"])
      const deny = agent(page, { deny: ["web_fetch(domain:*.example.com)"] })
      const denied = yield* Effect.provide(run("danger-full-access", "never"), deny)
      assert.deepStrictEqual(outcomes(denied.session), ["refused"])
    })
  )

  it.scopedLive("that is none is left to the tool", () =>
    Effect.gen(function* () {
      const { session } = yield* run()
      assert.deepStrictEqual(outcomes(session), ["fetched", "fetched"])
      assert.strictEqual(asked(session), 0)
    }).pipe(Effect.provide(agent(["file:///etc/passwd", "nonsense"])))
  )
})
