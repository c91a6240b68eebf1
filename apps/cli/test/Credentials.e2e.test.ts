// Keys as users keep them: set, used and forgotten, and never seen.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Workspace from "./support/Workspace.ts"

const { key } = Workspace

const done = Script.respond(() => Reply.text("done"))

/** Without a key in the environment. */
const bare = { env: { DEEPSEEK_API_KEY: "" } }

/** Everything that is written in a folder. */
const texts = (folder: string): ReadonlyArray<readonly [file: string, text: string]> =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile()
      ? [[join(entry.parentPath, entry.name), readFileSync(join(entry.parentPath, entry.name), "utf8")] as const]
      : []
  )

/** Calls of bash, one after the other, and then the answer. */
const calling = (...commands: ReadonlyArray<string>) =>
  Script.conversation([
    ...commands.map((command) =>
      Reply.toolCalls([{ name: "bash", arguments: { command, description: "Look around" } }])
    ),
    Reply.text("done")
  ])

describe("dsh credentials", () => {
  it.scopedLive("keeps a key that is piped in, uses it, lists it without its value, and forgets it", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(done)
      const { home, run } = workspace
      const missing = yield* run(["run", "hi"], bare)
      assert.strictEqual(missing.code, 3)
      assert.match(missing.stderr, /MISSING_CREDENTIAL: .*"dsh credentials set DEEPSEEK_API_KEY"/)

      const set = yield* run(["credentials", "set", "DEEPSEEK_API_KEY"], { ...bare, stdin: ` ${key}\n` })
      assert.deepInclude(set, { code: 0, stdout: "", stderr: "dsh: DEEPSEEK_API_KEY is kept from now on\n" })
      const file = join(home, ".credentials.yaml")
      assert.strictEqual(readFileSync(file, "utf8"), `version: 1\nrefs:\n  DEEPSEEK_API_KEY: ${key}\n`)
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      assert.strictEqual(statSync(home).mode & 0o777, 0o700)

      const used = yield* run(["run", "hi"], bare)
      assert.deepInclude(used, { code: 0, stdout: "done\n" })

      const list = yield* run(["credentials", "list"], bare)
      assert.match(list.stdout, /^DEEPSEEK_API_KEY +set in \.credentials\.yaml/m)
      assert.match(list.stdout, /^EXA_API_KEY +not set$/m)
      const json = yield* run(["credentials", "list", "--json"], bare)
      assert.deepStrictEqual(JSON.parse(json.stdout.split("\n")[0] ?? ""), {
        name: "DEEPSEEK_API_KEY",
        configured: true,
        source: "file"
      })

      const unset = yield* run(["credentials", "unset", "DEEPSEEK_API_KEY"], bare)
      assert.deepInclude(unset, { code: 0, stderr: "dsh: DEEPSEEK_API_KEY is forgotten\n" })
      assert.notInclude(readFileSync(file, "utf8"), key)
      assert.strictEqual((yield* run(["run", "hi"], bare)).code, 3)
      const again = yield* run(["credentials", "unset", "DEEPSEEK_API_KEY"], bare)
      assert.strictEqual(again.code, 1)
      assert.match(again.stderr, /CREDENTIAL_NOT_KEPT/)
      for (const { stderr, stdout } of [set, used, list, json, unset, again]) assert.notInclude(stdout + stderr, key)
    })
  )

  it.scopedLive("takes no value from the command line, and repeats nothing that may be one", () =>
    Effect.gen(function* () {
      const { home, run } = yield* Workspace.make(done)
      for (const [args, message] of [
        [["credentials", "set", "DEEPSEEK_API_KEY", key], /read from stdin or asked for/],
        [["credentials", "set", key], /INVALID_REFERENCE|no name of a credential/],
        [["credentials", "unset", key], /no name of a credential/]
      ] as const) {
        const refused = yield* run(args, { ...bare, stdin: key })
        assert.strictEqual(refused.code, 2, refused.stderr)
        assert.match(refused.stderr, message)
        assert.notInclude(refused.stderr, key)
      }
      for (const stdin of ["", " \n", "two words", "“quoted”"]) {
        const refused = yield* run(["credentials", "set", "DEEPSEEK_API_KEY"], { ...bare, stdin })
        assert.strictEqual(refused.code, 2, refused.stderr)
      }
      assert.isFalse(existsSync(join(home, ".credentials.yaml")))
    })
  )

  it.scopedLive("changes nothing behind the environment, and trusts no file that others may read", () =>
    Effect.gen(function* () {
      const { home, run } = yield* Workspace.make(done)
      for (const args of [
        ["credentials", "set", "DEEPSEEK_API_KEY"],
        ["credentials", "unset", "DEEPSEEK_API_KEY"]
      ]) {
        const refused = yield* run(args, { stdin: "sk-other" })
        assert.strictEqual(refused.code, 3)
        assert.match(refused.stderr, /CREDENTIAL_SHADOWED: DEEPSEEK_API_KEY is set in the environment/)
      }
      mkdirSync(home, { recursive: true, mode: 0o700 })
      const file = join(home, ".credentials.yaml")
      writeFileSync(file, `DEEPSEEK_API_KEY: ${key}\n`, { mode: 0o644 })
      const exposed = yield* run(["run", "hi"], bare)
      assert.strictEqual(exposed.code, 3)
      assert.include(exposed.stderr, `chmod 600 ${file}`)
      chmodSync(file, 0o600)
      // As it was kept before there were versions.
      assert.strictEqual((yield* run(["run", "hi"], bare)).code, 0)
      writeFileSync(file, `DEEPSEEK_API_KEY: [${key}\n`)
      const broken = yield* run(["run", "hi"], bare)
      assert.strictEqual(broken.code, 3)
      assert.match(broken.stderr, /CREDENTIALS_INVALID: .*\.credentials\.yaml:\d+:\d+/)
      assert.notInclude(broken.stderr, key)
    })
  )
})

describe(".env files", () => {
  it.scopedLive("give a key that the environment and what is kept do not have, that of the project first", () =>
    Effect.gen(function* () {
      const { home, project, run, server } = yield* Workspace.make(done)
      mkdirSync(home, { mode: 0o700 })
      writeFileSync(join(home, ".env"), `DEEPSEEK_API_KEY='${key}' # mine\n`)
      assert.strictEqual((yield* run(["run", "hi"], bare)).code, 0)
      writeFileSync(join(project, ".env"), "DEEPSEEK_API_KEY=sk-of-the-project\n")
      const refused = yield* run(["run", "hi"], bare)
      assert.strictEqual(refused.code, 3, refused.stderr)
      assert.match(refused.stderr, /AUTH/)
      assert.match(
        (yield* run(["credentials", "list"], bare)).stdout,
        /^DEEPSEEK_API_KEY +set in \.env of this folder$/m
      )
      // What is kept wins over both, and the environment over all.
      yield* run(["credentials", "set", "DEEPSEEK_API_KEY"], { ...bare, stdin: key })
      assert.strictEqual((yield* run(["run", "hi"], bare)).code, 0)
      const before = (yield* server.requests).length
      assert.strictEqual((yield* run(["run", "hi"], { env: { DEEPSEEK_API_KEY: "sk-wrong-one" } })).code, 3)
      assert.isAbove((yield* server.requests).length, before)
    })
  )

  for (const [what, where, text, message] of [
    ["does not parse", "home", "A=1\nthis is no assignment\n", /\/home\/\.env:2: is no NAME=value/],
    ["sets what runs", "project", "A=1\nNODE_OPTIONS=--require=./evil.js\n", /\/project\/\.env:2: sets NODE_OPTIONS, /],
    ["sets an address", "project", "DEEPSEEK_BASE_URL=http://evil.example\n", /\/\.env:1: sets DEEPSEEK_BASE_URL, /],
    ["sets a proxy", "project", "https_proxy=http://evil.example\n", /\/\.env:1: sets https_proxy, /],
    ["sets one of ours", "home", "\nDSH_PERMISSION_MODE=danger-full-access\n", /\/\.env:2: sets DSH_PERMISSION_MODE, /]
  ] as const) {
    it.scopedLive(`end the start when one ${what}, whatever key there is`, () =>
      Effect.gen(function* () {
        const workspace = yield* Workspace.make(done)
        mkdirSync(workspace.home, { mode: 0o700 })
        writeFileSync(join(workspace[where], ".env"), text)
        const refused = yield* workspace.run(["run", "hi"])
        assert.strictEqual(refused.code, 3)
        assert.match(refused.stderr, message)
        assert.notInclude(refused.stderr, "evil")
        assert.lengthOf(yield* workspace.server.requests, 0)
        assert.strictEqual((yield* workspace.run(["--version"])).code, 0)
      })
    )
  }

  it.scopedLive("give nothing to the commands of tools", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(calling('echo "<$EXA_API_KEY$COLOR_OF_IT>"; env | grep -c COLOR_OF_IT'))
      writeFileSync(join(workspace.project, ".env"), "EXA_API_KEY=exa-0123456789\nCOLOR_OF_IT=blue\n")
      assert.strictEqual((yield* workspace.run(["run", "look"])).code, 0)
      const [id = ""] = workspace.sessions()
      const log = JSON.stringify(workspace.log(id))
      assert.include(log, "<>")
      assert.notInclude(log, "blue")
    })
  )
})

describe("a key", () => {
  for (const [where, give] of [
    [
      "is kept",
      (home: string) =>
        writeFileSync(join(home, ".credentials.yaml"), `version: 1\nrefs: { DEEPSEEK_API_KEY: ${key} }\n`, {
          mode: 0o600
        })
    ],
    [
      "is in .env of the project",
      (_: string, project: string) => writeFileSync(join(project, ".env"), `DEEPSEEK_API_KEY=${key}\n`)
    ]
  ] as const) {
    it.scopedLive(`that ${where} is nowhere else after a run that looked for it`, () =>
      Effect.gen(function* () {
        const workspace = yield* Workspace.make(
          calling(
            "env",
            "cat /proc/$PPID/environ | tr '\\0' '\\n'",
            "cat .env $HOME/.credentials.yaml ../home/.credentials.yaml",
            "cat .env | tr a-z a-z"
          )
        )
        mkdirSync(workspace.home, { mode: 0o700 })
        give(workspace.home, workspace.project)
        const ran = yield* workspace.run(["run", "--usage", "look for keys"], bare)
        assert.deepInclude(ran, { code: 0, stdout: "done\n" })
        assert.notInclude(ran.stderr, key)
        const [id = ""] = workspace.sessions()
        assert.strictEqual((yield* workspace.run(["session", "verify", id], bare)).code, 0)
        const found = [...texts(workspace.home), ...texts(workspace.project)].flatMap(([file, text]) =>
          text.includes(key) ? [file] : []
        )
        assert.lengthOf(found, 1)
        assert.match(found[0] ?? "", /\.credentials\.yaml$|\.env$/)
        for (const { request } of yield* workspace.server.requests)
          assert.notInclude(JSON.stringify(request?.messages), key)
      })
    )
  }

  it.scopedLive("that is changed while a run works counts from the next request on", () =>
    Effect.gen(function* () {
      // The second request has a key that the provider does not know.
      const workspace = yield* Workspace.make(calling("sed -i s/never/now/ ../home/.credentials.yaml"))
      mkdirSync(workspace.home, { mode: 0o700 })
      const text = `version: 1\nrefs:\n  DEEPSEEK_API_KEY: ${key}\n`
      writeFileSync(join(workspace.home, ".credentials.yaml"), text, { mode: 0o600 })
      const ran = yield* workspace.run(["run", "go"], bare)
      assert.strictEqual(ran.code, 3, ran.stderr)
      assert.match(ran.stderr, /AUTH/)
      assert.lengthOf(yield* workspace.server.requests, 2)
    })
  )
})
