// Settings from the command line, and that runs go by them.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import * as Workspace from "./support/Workspace.ts"

const done = Script.respond(() => Reply.text("done"))

/** A workspace with settings. */
const withSettings = (text: string, script: Script.Script = done) =>
  Effect.tap(Workspace.make(script), ({ home }) =>
    Effect.sync(() => {
      mkdirSync(home, { mode: 0o700 })
      writeFileSync(join(home, "settings.yaml"), text)
    })
  )

/** A site that answers as soon as so many wait for it, and then whoever is left; and how many waited at once at most. */
const crowded = (size: number) =>
  Effect.acquireRelease(
    Effect.async<{ readonly server: Http.Server; readonly port: number; readonly most: () => number }>((resume) => {
      const waiting = new Set<Http.ServerResponse>()
      let most = 0
      let isFull = false
      const server = Http.createServer((_, response) => {
        waiting.add(response)
        most = Math.max(most, waiting.size)
        isFull ||= waiting.size === size
        if (!isFull) return
        // Who else may come at the same time has come by then.
        setTimeout(() => {
          for (const each of waiting) each.writeHead(200, { "content-type": "text/plain" }).end("hello")
          waiting.clear()
        }, 100)
      })
      server.listen(0, "127.0.0.1", () =>
        resume(Effect.succeed({ server, port: (server.address() as AddressInfo).port, most: () => most }))
      )
    }),
    ({ server }) => Effect.sync(() => void server.close())
  )

const fileOf = ({ home }: Workspace.Workspace) => readFileSync(join(home, "settings.yaml"), "utf8")

describe("dsh settings", () => {
  it.scopedLive("sets, gets and takes back values, and leaves everything else as it was written", () =>
    Effect.gen(function* () {
      const workspace = yield* withSettings(
        "# mine\nui: {x: 1} # not ours\npermission:\n  preset: read-only # careful\n"
      )
      const { home, run } = workspace
      const set = yield* run(["settings", "set", "agent-loop.maxParallelToolCalls", "4"])
      assert.deepInclude(set, { code: 0, stdout: "", stderr: "dsh: agent-loop.maxParallelToolCalls is set\n" })
      yield* run(["settings", "set", "agent-default-model.model", "7"])
      yield* run(["settings", "set", "permission.rules.deny", "[read(.env), 'bash(rm *)']"])
      yield* run(["settings", "set", 'prices."p/m-1.5"', "{ currency: USD, input: 1, output: 2 }"])
      assert.strictEqual(
        fileOf(workspace),
        [
          "# mine",
          "ui: { x: 1 } # not ours",
          "permission:",
          "  preset: read-only # careful",
          "  rules:",
          "    deny:",
          "      - read(.env)",
          "      - bash(rm *)",
          "agent-loop:",
          "  maxParallelToolCalls: 4",
          "agent-default-model:",
          '  model: "7"',
          "prices:",
          "  p/m-1.5:",
          "    currency: USD",
          "    input: 1",
          "    output: 2",
          ""
        ].join("\n")
      )
      assert.strictEqual(statSync(join(home, "settings.yaml")).mode & 0o777, 0o600)

      const get = (path: string, ...flags: ReadonlyArray<string>) =>
        Effect.map(run(["settings", "get", path, ...flags]), ({ stdout }) => stdout)
      assert.strictEqual(yield* get("permission.rules.deny[1]"), "bash(rm *)\n")
      assert.strictEqual(yield* get("permission.rules", "--json"), '{"deny":["read(.env)","bash(rm *)"]}\n')
      // What the settings do not say is what dsh has.
      assert.strictEqual(yield* get("agent-default-model.provider"), "deepseek-official\n")
      assert.strictEqual(yield* get("ui.x"), "1\n")
      const all = JSON.parse((yield* run(["settings", "get", "--json"])).stdout)
      assert.deepStrictEqual(Object.keys(all), ["ui", "permission", "agent-loop", "agent-default-model", "prices"])
      assert.deepStrictEqual(all["agent-default-model"], { model: "7" })

      assert.strictEqual((yield* run(["settings", "unset", "permission.rules.deny[0]"])).code, 0)
      assert.strictEqual(yield* get("permission.rules.deny", "--json"), '["bash(rm *)"]\n')
      const again = yield* run(["settings", "unset", "permission.trustedProjects"])
      assert.strictEqual(again.code, 1)
      assert.match(again.stderr, /SETTING_NOT_SET/)
      assert.strictEqual((yield* run(["settings", "get", "permission.trustedProjects"])).code, 1)
    })
  )

  it.scopedLive("refuses what does not fit, with the nearest name, and changes nothing", () =>
    Effect.gen(function* () {
      const before = "permission: {preset:   read-only}\n"
      const workspace = yield* withSettings(before)
      for (const [args, message] of [
        [["set", "agent-lop.maxParallelToolCalls", "4"], /"agent-lop" is no section .*did you mean "agent-loop"\?/],
        [["set", "agent-loop.maxParalelToolCalls", "4"], /did you mean "maxParallelToolCalls"\?/],
        [["set", "agent-loop.maxParallelToolCalls", "many"], /maxParallelToolCalls is no whole number from 1 to 1000/],
        [["set", "agent-loop.maxParallelToolCalls", "0"], /no whole number/],
        [["set", "permission.rules.deny[0]", "read("], /permission\.rules\.deny\[0\]/],
        [["set", "prices.m", "{}"], /prices/],
        [["get", "permission.prest"], /did you mean "preset"\?/],
        [["get", "permision"], /did you mean "permission"\?/],
        [["unset", "permission.prest"], /did you mean "preset"\?/],
        [["set", "a..b", "1"], /is no path of the settings/],
        [["set", "permission"], /needs its VALUE/],
        [["get", "a", "b"], /takes no "b"/]
      ] as const) {
        const refused = yield* workspace.run(["settings", ...args])
        assert.strictEqual(refused.code, 2, `${args.join(" ")}: ${refused.stderr}`)
        assert.match(refused.stderr, message)
        assert.strictEqual(fileOf(workspace), before)
      }
    })
  )

  it.scopedLive("says where a file that does not fit goes wrong, and leaves it alone", () =>
    Effect.gen(function* () {
      const before = "a: 1\nagent-loop:\n  maxParallelToolCalls: no\n"
      const workspace = yield* withSettings(before)
      for (const args of [
        ["settings", "get", "agent-loop"],
        ["settings", "set", "agent-loop.maxParallelToolCalls", "2"],
        ["run", "hi"]
      ]) {
        const refused = yield* workspace.run(args)
        assert.strictEqual(refused.code, 3, refused.stderr)
        assert.match(refused.stderr, /settings\.yaml:3:25: agent-loop\.maxParallelToolCalls is no whole number/)
      }
      assert.strictEqual(fileOf(workspace), before)
    })
  )

  it.scopedLive("without any says so", () =>
    Effect.gen(function* () {
      const { run } = yield* Workspace.make(done)
      assert.deepInclude(yield* run(["settings", "get", "--json"]), { code: 0, stdout: "{}\n" })
      const none = yield* run(["settings", "get"])
      assert.deepInclude(none, { code: 0, stdout: "" })
      assert.match(none.stderr, /nothing is set; it would be in .*settings\.yaml/)
    })
  )

  it.scopedLive("edit takes what fits, and keeps what does not without taking it", () =>
    Effect.gen(function* () {
      const before = "permission: { preset: read-only }\n"
      const workspace = yield* withSettings(before)
      const { home, project, run } = workspace
      const editor = (script: string) => {
        const file = join(project, "editor")
        writeFileSync(file, `#!/bin/sh\n${script}\n`)
        chmodSync(file, 0o755)
        return { env: { VISUAL: `${file} --wait`, EDITOR: "false" } }
      }
      const good = yield* run(
        ["settings", "edit"],
        editor(`printf '# new\\nagent-lop: {}\\nagent-loop: {maxParallelToolCalls: 2}\\n' > "$2"`)
      )
      assert.strictEqual(good.code, 0, good.stderr)
      assert.match(good.stderr, /"agent-lop" is no section .*did you mean "agent-loop"\?.* \(it is kept\)/)
      const after = "# new\nagent-lop: {}\nagent-loop: {maxParallelToolCalls: 2}\n"
      assert.strictEqual(fileOf(workspace), after)

      for (const [text, message] of [
        ["agent-loop: {maxParallelToolCalls: x}", /:1:36: agent-loop\.maxParallelToolCalls is no whole number/],
        ["agent-loop: {", /:\d+:\d+: /]
      ] as const) {
        const bad = yield* run(["settings", "edit"], editor(`printf '${text}' > "$2"`))
        assert.strictEqual(bad.code, 3, bad.stderr)
        assert.match(bad.stderr, message)
        const [, copy = ""] = /what you wrote is in (\S+)/.exec(bad.stderr) ?? []
        assert.strictEqual(readFileSync(copy, "utf8"), text)
        assert.strictEqual(statSync(copy).mode & 0o077, 0)
        assert.strictEqual(fileOf(workspace), after)
      }

      const meanwhile = yield* run(
        ["settings", "edit"],
        editor(`printf 'a: 1' > "$2"; printf 'b: 2' > "${join(home, "settings.yaml")}"`)
      )
      assert.strictEqual(meanwhile.code, 3)
      assert.match(meanwhile.stderr, /SETTINGS_CONFLICT: .*changed by somebody else.*what you wrote is in /)
      assert.strictEqual(fileOf(workspace), "b: 2")

      const failed = yield* run(["settings", "edit"], editor("exit 7"))
      assert.strictEqual(failed.code, 1)
      assert.match(failed.stderr, /EDITOR: .*exit code 7/)
      const same = yield* run(["settings", "edit"], editor("true"))
      assert.deepInclude(same, { code: 0, stderr: "dsh: nothing was changed\n" })
      assert.strictEqual((yield* run(["settings", "edit"], { env: { VISUAL: "", EDITOR: " " } })).code, 2)
      // Of three the text is kept.
      assert.lengthOf(
        readdirSync(home).filter((name) => name.startsWith("settings.edited-")),
        3
      )
    })
  )
})

describe("a run goes by the settings", () => {
  it.scopedLive("the model and its effort are those of the settings, unless the command line names one", () =>
    Effect.gen(function* () {
      const workspace = yield* withSettings("agent-default-model: { model: deepseek-v4-pro, reasoningEffort: max }\n")
      const asked = Effect.map(workspace.server.requests, (requests) => {
        const { model, ...more } = requests.at(-1)?.request ?? {}
        return { model, more: JSON.stringify(more) }
      })
      assert.strictEqual((yield* workspace.run(["run", "hi"])).code, 0)
      const first = yield* asked
      assert.strictEqual(first.model, "deepseek-v4-pro")
      assert.match(JSON.stringify(workspace.log(workspace.sessions()[0] ?? "")), /"reasoningEffort":"max"/)
      yield* workspace.run(["run", "--model", "deepseek-v4-flash", "hi"])
      assert.strictEqual((yield* asked).model, "deepseek-v4-flash")
      writeFileSync(join(workspace.home, "settings.yaml"), "agent-default-model: { provider: deepsek-official }\n")
      const refused = yield* workspace.run(["run", "hi"])
      assert.strictEqual(refused.code, 3)
      assert.match(refused.stderr, /agent-default-model\.provider .*did you mean "deepseek-official"\?/)
    })
  )

  for (const [limit, settings] of [
    [1, "agent-loop: { maxParallelToolCalls: 1 }\n"],
    [2, "agent-loop: { maxParallelToolCalls: 2 }\n"],
    [3, ""]
  ] as const) {
    it.scopedLive(`no more tools run at once than they say: ${limit} of three`, () =>
      Effect.gen(function* () {
        const { most, port } = yield* crowded(limit)
        const fetch = { name: "web_fetch", arguments: { url: `http://localhost:${port}/` } }
        const script = Script.conversation([Reply.toolCalls([fetch, fetch, fetch]), Reply.text("done")])
        const workspace = yield* withSettings(settings, script)
        const ran = yield* workspace.run(["run", "go"], { env: { DSH_WEB_ALLOW: `localhost:${port}` } })
        assert.strictEqual(ran.code, 0, ran.stderr)
        assert.strictEqual(most(), limit)
      })
    )
  }
})

describe("dsh models", () => {
  it.scopedLive("lists what is known of the models, and which is the default", () =>
    Effect.gen(function* () {
      const workspace = yield* withSettings(
        [
          "agent-default-model: { model: deepseek-v9, reasoningEffort: low }",
          "prices:",
          "  deepseek-official/deepseek-v4-pro: { currency: USD, input: 1, cacheRead: 0.1, output: 2 }",
          ""
        ].join("\n")
      )
      const text = yield* workspace.run(["models"], { env: { DEEPSEEK_API_KEY: "" } })
      assert.strictEqual(text.code, 0, text.stderr)
      assert.match(
        text.stdout,
        /^ {2}deepseek-official\/deepseek-v4-flash: context 1000000 tokens; effort off, low, high \(default\), max$/m
      )
      assert.match(text.stdout, /^ {2}deepseek-official\/deepseek-v4-pro: .*; 1 in, 2 out \(USD per million tokens\)$/m)
      assert.match(text.stdout, /^\* deepseek-official\/deepseek-v9$/m)
      const json = yield* workspace.run(["models", "--json"])
      const models = json.stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
      assert.deepInclude(models[1], {
        id: "deepseek-v4-pro",
        default: false,
        contextWindow: 1_000_000,
        efforts: ["off", "low", "high", "max"],
        price: { currency: "USD", input: 1, cacheRead: 0.1, cacheWrite: 1, output: 2 }
      })
      assert.deepInclude(models[2], { id: "deepseek-v9", default: true, defaultEffort: "low" })
    })
  )
})
