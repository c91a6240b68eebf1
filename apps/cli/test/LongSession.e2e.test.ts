// A hundred turns with tools, reasoning, a resume, a fork and another model: every request is one that a strict provider takes, and each
// begins with all of the one before it, byte for byte, so that the provider's prefix cache holds.
import { Agents } from "@dsh/agent/Agents"
import type { Agent } from "@dsh/agent/Agent"
import * as LlmDeepSeek from "@dsh/llm/LlmDeepSeek"
import type { SessionId } from "@dsh/protocol/Ids"
import * as MockLlm from "@dsh/testing/MockLlm"
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Headless from "../src/Headless.ts"
import { dsh } from "./support/Dsh.ts"

const { provider } = LlmDeepSeek
const models = ["deepseek-v4-flash", "deepseek-v4-pro"] as const

/** Thinks, reads a file twice at once, or sometimes only answers; then says so. */
const script = Script.respond(({ messages }) => {
  const last = messages.at(-1)
  const turn = messages.filter(({ role }) => role === "user").length
  if (last?.role === "tool") return Reply.text([`answer ${turn} `, "日本語 ", "\u{1f600}"], { reasoning: `so ${turn}` })
  if (turn % 5 === 0) return Reply.text(`just ${turn}`)
  const read = { name: "read", arguments: { file_path: "notes.txt" } }
  return Reply.toolCalls([read, read], turn % 3 === 0 ? {} : { reasoning: `let me look ${turn}` })
})

describe("a long session", () => {
  it.scopedLive(
    "keeps the prefix of its requests over resume, fork and another model",
    () =>
      Effect.gen(function* () {
        const cwd = yield* Effect.acquireRelease(
          Effect.sync(() => mkdtempSync(join(tmpdir(), "dsh-long-"))),
          (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
        )
        writeFileSync(join(cwd, "notes.txt"), "one\ntwo \u{1f600}\n")
        const server = yield* MockLlm.make({ script })
        const home = join(cwd, "home")
        const layer = Headless.layer({
          permission: "danger-full-access",
          provider: { apiKey: Redacted.make("k"), baseUrl: server.url },
          own: {
            entries: [{ kind: "change", id: "persistence", changes: { config: { root: join(home, "sessions") } } }]
          },
          checkInvariants: true
        })
        let turns = 0
        /** One life of an agent: so many turns. */
        const live = <E>(open: Effect.Effect<Agent, E, Agents | import("effect").Scope.Scope>, count: number) =>
          Effect.gen(function* () {
            const agent = yield* open
            for (let i = 0; i < count; i++) {
              const { reason } = yield* Effect.flatMap(agent.followup(`prompt ${++turns}`), agent.awaitTurn)
              assert.strictEqual(reason.kind, "completed", JSON.stringify(reason))
              yield* agent.whenIdle
            }
            return agent.session.id
          }).pipe(Effect.scoped, Effect.provide(layer))
        const agents = <A, E, R>(use: (agents: Agents["Type"]) => Effect.Effect<A, E, R>) => Effect.flatMap(Agents, use)

        const [flash, pro] = models
        const first: SessionId = yield* live(
          agents((all) => all.create({ cwd, provider, model: flash })),
          40
        )
        yield* live(
          agents((all) => all.resume({ id: first, provider })),
          20
        )
        const fork: SessionId = yield* live(
          agents((all) => all.fork({ source: first, provider })),
          20
        )
        yield* live(
          agents((all) => all.resume({ id: fork, provider, model: pro })),
          20
        )
        assert.strictEqual(turns, 100)

        const requests = yield* server.requests
        assert.deepStrictEqual(
          requests.flatMap(({ violations }) => violations),
          []
        )
        assert.isAbove(requests.length, 170)
        const bodies = requests.map(({ body }) => Buffer.from(body).toString("utf8"))
        const modelOf = (body: string) => /"model":"([^"]+)"/.exec(body)?.[1]
        // Another model has another name in its system prompt, and another cache.
        const conversationOf = (body: string) => body.slice(body.indexOf('{"role":"user"'))
        let switches = 0
        for (let n = 1; n < bodies.length; n++) {
          const [before, body] = [bodies[n - 1]!, bodies[n]!]
          const isSwitch = modelOf(before) !== modelOf(body)
          if (isSwitch) switches++
          const [kept, whole] = isSwitch ? [conversationOf(before), conversationOf(body)] : [before, body]
          assert.isTrue(
            whole.startsWith(kept.slice(0, kept.lastIndexOf("]"))),
            `request ${n} does not begin with the one before`
          )
        }
        assert.strictEqual(switches, 1)
        for (const id of [first, fork]) {
          const verified = yield* Effect.promise(() => dsh(["session", "verify", id], { env: { DSH_HOME: home } }))
          assert.strictEqual(verified.code, 0, verified.stdout)
        }
      }),
    60_000
  )
})
