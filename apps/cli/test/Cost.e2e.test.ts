// What a session costs, by the prices that its user keeps.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Workspace from "./support/Workspace.ts"

const usage = { prompt_tokens: 1_000_000, prompt_cache_hit_tokens: 500_000, completion_tokens: 100_000 }
const script = Script.respond(() => Reply.text("ok", { usage }))

const prices = `
prices:
  deepseek-official/deepseek-v4-flash:
    - { from: 2020-01-01, currency: USD, input: 2, cacheRead: 0.2, output: 10 }
    - { from: 2999-01-01, currency: USD, input: 100, output: 100 }
`
const once = "1000000 tokens in (50 % from the cache), 100000 out, 2.10 USD"
const twice = "2000000 tokens in (50 % from the cache), 200000 out, 4.20 USD"

const started = (settings: string) =>
  Effect.gen(function* () {
    const workspace = yield* Workspace.make(script)
    yield* workspace.run(["run", "first"])
    writeFileSync(join(workspace.home, "settings.yaml"), settings)
    const [id = ""] = workspace.sessions()
    const show = (shown = id) =>
      Effect.map(workspace.run(["session", "show", shown]), ({ stdout }) =>
        stdout.split("\n").filter((line) => /used|in all|with its|^context/.test(line))
      )
    return { workspace, id, show }
  })

describe("what a session costs", () => {
  it.scopedLive("is told of a run, of each turn and of all of them, with how full the context is", () =>
    Effect.gen(function* () {
      const { show, workspace } = yield* started(prices)
      const { stderr } = yield* workspace.run(["run", "--usage", "--continue", "second"])
      assert.include(stderr, `dsh: used 1 request, ${once}; context 1100000 of 1000000 tokens (110 %)\n`)
      assert.deepStrictEqual(yield* show(), [
        `  used 1 request, ${once}`,
        `  used 1 request, ${once}`,
        `in all: 2 requests, ${twice}`,
        "context 1100000 of 1000000 tokens (110 %)"
      ])
    })
  )

  it.scopedLive("is not told where nobody knows the price, and never as if it were all", () =>
    Effect.gen(function* () {
      const { show, workspace } = yield* started(prices.replaceAll("v4-flash", "v4-pro"))
      yield* workspace.run(["run", "--model", "deepseek-v4-pro", "--continue", "second"])
      assert.deepStrictEqual((yield* show()).slice(0, 3), [
        "  used 1 request, 1000000 tokens in (50 % from the cache), 100000 out",
        `  used 1 request, ${once}`,
        "in all: 2 requests, 2000000 tokens in (50 % from the cache), 200000 out, 2.10 USD for 1 of them"
      ])
    })
  )

  it.scopedLive("does not count again what was copied from another session, and counts what sub-agents used", () =>
    Effect.gen(function* () {
      const { id, show, workspace } = yield* started(prices)
      const forked = yield* workspace.run(["run", "--fork", id, "another way"])
      assert.strictEqual(forked.code, 0)
      const fork = workspace.sessions().find((one) => one !== id) ?? ""
      assert.include(yield* show(fork), `in all: 1 request, ${once}`)
      // The log of a sub-agent, as one that it called would leave it: the tree is told by the headers.
      const sessions = join(workspace.home, "sessions")
      const folder = readdirSync(sessions).find((name) => readdirSync(join(sessions, name)).includes(id)) ?? ""
      let parent = id
      for (const child of ["session-child", "session-grandchild"]) {
        cpSync(join(sessions, folder, id), join(sessions, folder, child), { recursive: true })
        const file = join(sessions, folder, child, "session.jsonl")
        const origin = `"origin":"subagent","parentSession":"${parent}",`
        writeFileSync(file, readFileSync(file, "utf8").replaceAll(`"id":"${id}",`, `"id":"${child}",${origin}`))
        parent = child
      }
      assert.include(
        yield* show(),
        "with its 2 sub-agents: 3 requests, 3000000 tokens in (50 % from the cache), 300000 out, 6.30 USD"
      )
      assert.include(yield* show("session-child"), `with its sub-agent: 2 requests, ${twice}`)
    })
  )

  it.scopedLive("prices that cannot be read are said, with the place, before anything is asked", () =>
    Effect.gen(function* () {
      const { id, workspace } = yield* started(prices.replace("input: 2,", "input: two,"))
      for (const args of [
        ["run", "--usage", "hello"],
        ["session", "show", id]
      ]) {
        const { code, stderr, stdout } = yield* workspace.run(args)
        assert.deepStrictEqual([code, stdout], [3, ""])
        assert.match(
          stderr,
          /^dsh: SETTINGS_INVALID: \S+settings\.yaml:4:49: prices\.deepseek-official\/deepseek-v4-flash\[0\]\.input Expected number/
        )
      }
      assert.lengthOf(yield* workspace.server.requests, 1)
    })
  )
})
