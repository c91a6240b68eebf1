// `dsh doctor` and `dsh config` on homes that are as they should be, and on homes that are not.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import * as Net from "node:net"
import { hostname } from "node:os"
import { dirname, join } from "node:path"
import * as Workspace from "./support/Workspace.ts"

const canConfine = process.platform === "linux" && spawnSync("bwrap", ["--ro-bind", "/", "/", "true"]).status === 0

const order = [
  "node",
  "sandbox",
  "ripgrep",
  "key",
  "network",
  "home",
  "settings",
  "env-files",
  "configuration",
  "extensions",
  "presets",
  "sessions",
  "terminal"
]

type Env = Readonly<Record<string, string>>

interface Found {
  readonly check: string
  readonly status: "ok" | "warn" | "fail"
  readonly message: string
  readonly remedy?: string
}

const make = Effect.tap(Workspace.make(Script.respond(() => Reply.text("done"))), ({ home }) =>
  Effect.sync(() => mkdirSync(home, { mode: 0o700 }))
)

const secrets = [Workspace.key, "sk-secret", "hush-hush"]

/** Runs it; whatever it prints, no key is in it. */
const run = (workspace: Workspace.Workspace, args: ReadonlyArray<string>, env: Env = {}) =>
  Effect.tap(workspace.run(args, { env }), ({ stderr, stdout }) =>
    Effect.sync(() => {
      for (const secret of secrets) assert.notInclude(stdout + stderr, secret)
    })
  )

const examine = (workspace: Workspace.Workspace, env?: Env, args: ReadonlyArray<string> = []) =>
  Effect.map(run(workspace, ["doctor", "--json", ...args], env), ({ code, stderr, stdout }) => {
    const found = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Found)
    assert.deepStrictEqual(
      found.map(({ check }) => check),
      order,
      stderr
    )
    const of = (status: Found["status"]) => found.flatMap((one) => (one.status === status ? [one.check] : []))
    assert.strictEqual(code, of("fail").length === 0 ? 0 : 3)
    const told = (check: string): Found => found.find((one) => one.check === check)!
    return { code, told, failed: of("fail"), warned: of("warn") }
  })

const write = (file: string, text: string, mode = 0o600): void => {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, text, { mode })
  // Whatever the umask is.
  chmodSync(file, mode)
}

/** The folders of the sessions, by their ids. */
const logs = ({ home }: Workspace.Workspace): ReadonlyArray<string> => {
  const root = join(home, "sessions")
  return readdirSync(root).flatMap((project) => readdirSync(join(root, project)).map((id) => join(root, project, id)))
}

/** A socket that takes every connection and says nothing. */
const silent = Effect.acquireRelease(
  Effect.async<Net.Server>((resume) => {
    const server: Net.Server = Net.createServer()
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.sync(() => void server.close())
)

const portOf = (server: Net.Server): number => (server.address() as Net.AddressInfo).port

/** A port that nobody listens on: somebody did. */
const dead = Effect.map(Effect.scoped(Effect.map(silent, portOf)), (port) => `127.0.0.1:${port}`)

const deadOwner = JSON.stringify({ pid: spawnSync("true").pid, host: hostname(), started: "another boot" })

const extension = ({ home }: Workspace.Workspace, source: string): string => {
  const folder = join(home, "profiles", "mine")
  const profile = { dependencies: { greeter: "1.0.0" }, dsh: { profile: { bundles: ["base", "headless"] } } }
  write(join(folder, "package.json"), JSON.stringify(profile))
  write(join(folder, "dsh.patch.yml"), "- insert:\n    - id: greeter\n      name: greeter\n")
  const installed = join(folder, "node_modules", "greeter")
  write(
    join(installed, "package.json"),
    JSON.stringify({ name: "greeter", version: "1.0.0", type: "module", exports: "./index.mjs" })
  )
  write(join(installed, "index.mjs"), source)
  return installed
}

const plugin = `import * as Plugin from "@dsh/kernel/Plugin"
import { Layer } from "effect"
export default Plugin.make({ name: "greeter", layer: () => Layer.empty })
`

describe("dsh doctor", () => {
  it.scopedLive("finds nothing wrong with a home that is as it should be, and changes nothing in it", () =>
    Effect.gen(function* () {
      const workspace = yield* make
      const { home, project } = workspace
      write(join(home, "settings.yaml"), "permission:\n  rules:\n    deny: [read(.env)]\n")
      write(join(home, ".credentials.yaml"), "EXA_API_KEY: sk-secret-1234\n")
      write(join(project, ".env"), "PERPLEXITY_API_KEY=sk-secret-5678\n")
      write(join(home, "dsh.patch.yml"), "- id: spill\n  config:\n    maxInlineBytes: 60000\n")
      assert.strictEqual((yield* workspace.run(["run", "work"])).code, 0)
      const before = readdirSync(home, { recursive: true })
      const { failed, told, warned } = yield* examine(workspace)
      // Unconfined, as it was asked for.
      assert.deepStrictEqual([failed, warned], [[], ["sandbox"]])
      assert.strictEqual(told("sandbox").message, "commands run unconfined (danger-full-access)")
      assert.strictEqual(told("key").message, "DEEPSEEK_API_KEY is set in the environment")
      assert.match(told("network").message, /^http:\/\/127\.0\.0\.1:\d+\S* answers \(\d+\)$/)
      assert.strictEqual(told("settings").message, `${home}/settings.yaml: permission`)
      assert.strictEqual(told("env-files").message, `${project}/.env sets 1 name`)
      assert.strictEqual(told("sessions").message, "1 session")
      assert.match(told("presets").message, /^standard \(used when none is named\), .*minimal/)
      assert.deepStrictEqual(readdirSync(home, { recursive: true }), before)

      const { code, stdout } = yield* run(workspace, ["doctor"])
      assert.strictEqual(code, 0)
      const lines = stdout.trimEnd().split("\n")
      assert.deepStrictEqual(
        lines.map((line) => /^(?:ok {2}|warn|fail) {2}(\S+) /.exec(line)?.[1]),
        order
      )
      assert.isTrue(lines.some((line) => line === "ok    sessions       1 session"))
    })
  )

  it.scopedLive("works without a home, and makes none", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.respond(() => Reply.text("done")))
      const { failed, told } = yield* examine(workspace)
      assert.deepStrictEqual(failed, [])
      assert.include(told("home").message, `${workspace.home} is made when it is needed`)
      assert.notInclude(readdirSync(dirname(workspace.home)), "home")
    })
  )

  /** What is broken, and what has to be told of it: of each check the status, what is found and what to do. */
  const broken: ReadonlyArray<{
    readonly name: string
    readonly make?: (workspace: Workspace.Workspace) => Env | void
    readonly env?: Env
    readonly args?: ReadonlyArray<string>
    readonly fails?: Readonly<Record<string, readonly [message: RegExp, remedy?: RegExp]>>
    readonly warns?: Readonly<Record<string, readonly [message: RegExp, remedy?: RegExp]>>
  }> = [
    {
      name: "a home that others may look into",
      make: ({ home }) => chmodSync(home, 0o755),
      warns: { home: [/\/home has mode 0755: others may look into it$/, /^run "chmod 700 .*\/home"$/] }
    },
    {
      name: "a home that others may write to",
      make: ({ home }) => chmodSync(home, 0o777),
      fails: { home: [/\/home has mode 0777: others may write to it$/, /^run "chmod 700 .*\/home"$/] }
    },
    {
      name: "credentials that others may read",
      make: ({ home }) => write(join(home, ".credentials.yaml"), "DEEPSEEK_API_KEY: sk-secret-12345\n", 0o644),
      env: { DEEPSEEK_API_KEY: "" },
      fails: {
        home: [/\.credentials\.yaml has mode 0644: others may read it$/, /^run "chmod 600 .*\.credentials\.yaml"$/],
        key: [/\.credentials\.yaml: others may read it$/, /^run "chmod 600 /]
      }
    },
    {
      name: "no key",
      env: { DEEPSEEK_API_KEY: "" },
      fails: { key: [/^DEEPSEEK_API_KEY is not set$/, /dsh credentials set DEEPSEEK_API_KEY/] }
    },
    {
      name: "a key that cannot be sent",
      env: { DEEPSEEK_API_KEY: "sk-secret 12345" },
      fails: { key: [/^DEEPSEEK_API_KEY holds characters that no key has/] }
    },
    {
      name: "credentials that nobody needs now, and nobody could read",
      make: ({ home }) => write(join(home, ".credentials.yaml"), "version: 7\nrefs: { A: sk-secret-1234 }\n"),
      warns: { key: [/^DEEPSEEK_API_KEY is set in the environment\n.*\.credentials\.yaml:1:\d+: .*is of a version/] }
    },
    {
      name: "settings that are no YAML",
      make: ({ home }) => write(join(home, "settings.yaml"), "permission: {\nprices: [\n"),
      fails: { settings: [/\/settings\.yaml:\d+:\d+: /] }
    },
    {
      name: "settings of which several do not fit",
      make: ({ home }) =>
        write(
          join(home, "settings.yaml"),
          "agent-loop:\n  maxParallelToolCalls: 0\npermission:\n  rule: {}\npermisions: {}\n"
        ),
      fails: {
        settings: [
          /\/settings\.yaml:2:\d+: agent-loop\.maxParallelToolCalls is no whole number.*\n.*\/settings\.yaml:4:\d+: permission\.rule is unexpected.*\n.*"permisions" is no section of the settings; did you mean "permission"\?/s
        ]
      }
    },
    {
      name: "a provider in the settings that nobody serves",
      make: ({ home }) => write(join(home, "settings.yaml"), "agent-default-model: { provider: nobody }\n"),
      fails: { settings: [/agent-default-model\.provider .* is "nobody"$/] }
    },
    {
      name: "a permission preset in the settings that is none",
      make: ({ home }) => write(join(home, "settings.yaml"), "permission: { preset: everything }\n"),
      env: { DSH_PERMISSION_MODE: "" },
      fails: { sandbox: [/permission\.preset .* is "everything"$/, /read-only/] }
    },
    {
      name: "a .env file that says where the home is",
      make: ({ project }) => write(join(project, ".env"), "A=1\nDSH_HOME=/elsewhere\n"),
      fails: { "env-files": [/\/project\/\.env:2: sets DSH_HOME, /, /^take the line out/] },
      warns: { key: [/was not looked for/, /see env-files/] }
    },
    {
      name: "two .env files that are none",
      make: ({ home, project }) => {
        write(join(project, ".env"), "hush-hush\n")
        write(join(home, ".env"), "A=1\n\nB='hush-hush\n")
      },
      fails: { "env-files": [/\/project\/\.env:1: is no NAME=value.*\n.*\/home\/\.env:3: begins with '/s] },
      warns: { key: [/was not looked for/] }
    },
    {
      name: "a patch that is no YAML",
      make: ({ home }) => write(join(home, "dsh.patch.yml"), "- id: bash\n  disabled: [\n"),
      fails: { configuration: [/\/dsh\.patch\.yml:\d+: the file is no YAML/] },
      warns: { sandbox: [/was not tried/, /see configuration/], presets: [/were not looked at/, /see configuration/] }
    },
    {
      name: "a patch with two mistakes",
      make: ({ home }) =>
        write(
          join(home, "dsh.patch.yml"),
          "- id: spill\n  config:\n    maxBytes: 1\n- insert:\n    - id: mine\n      name: nowhere\n"
        ),
      fails: {
        configuration: [
          /dsh\.patch\.yml:1: row "spill" sets "maxBytes".*\n.*dsh\.patch\.yml:5: row "mine" names the plugin nowhere/s
        ]
      },
      warns: { sandbox: [/was not tried/], presets: [/were not looked at/] }
    },
    {
      name: "a patch of a row that is not there",
      make: ({ home }) => write(join(home, "dsh.patch.yml"), "- id: spil\n  disabled: true\n"),
      warns: {
        configuration: [/dsh\.patch\.yml:1: there is no row "spil"$/, /did you mean "spill"\?; the entry was skipped$/]
      }
    },
    {
      name: "a variable that makes no sense",
      env: { DSH_MAX_RETRIES: "often" },
      fails: { configuration: [/^DSH_MAX_RETRIES is "often"$/, /a number/] }
    },
    {
      name: "a store for sessions that there is not",
      env: { DSH_SESSION_STORE: "paper" },
      fails: {
        configuration: [/^DSH_SESSION_STORE is "paper"$/],
        sessions: [/^DSH_SESSION_STORE is "paper"$/, /jsonl or sqlite/]
      },
      warns: { sandbox: [/was not tried/], presets: [/were not looked at/] }
    },
    {
      name: "sessions that cannot be a folder",
      make: ({ home }) => write(join(home, "sessions"), "no folder"),
      fails: { sessions: [/^sessions cannot be kept in .*\/sessions: it is not a folder$/, /choose another one/] }
    },
    {
      name: "a profile that there is not",
      args: ["--profile", "nope"],
      fails: { configuration: [/there is no profile "nope"$/] },
      warns: {
        extensions: [/were not looked for/, /see configuration/],
        sandbox: [/was not tried/],
        presets: [/were not looked at/]
      }
    },
    {
      name: "a preset that cannot be used",
      make: ({ home }) => write(join(home, ".agent-presets/mine/agent.yml"), "- id: bash\n  name: nowhere\n"),
      warns: { presets: [/^mine cannot be used: .*agent\.yml.*nowhere/, /^correct it in .*\/mine, or remove it$/] }
    },
    {
      name: "a preset in the settings that there is not",
      make: ({ home }) => write(join(home, "settings.yaml"), "agent-presets: { default: nope }\n"),
      fails: { presets: [/^there is no preset "nope"$/, /agent-presets\.default/] }
    },
    {
      name: "an extension that was not installed",
      make: (workspace) => {
        const folder = join(workspace.home, "profiles", "mine")
        const profile = { dependencies: { absent: "1" }, dsh: { profile: { bundles: ["base", "headless"] } } }
        write(join(folder, "package.json"), JSON.stringify(profile))
      },
      args: ["--profile", "mine"],
      fails: { extensions: [/^absent is not installed in .*\/mine$/, /dsh plugin --profile mine install/] }
    },
    {
      name: "an extension that does not load",
      make: (workspace) => void extension(workspace, "throw new Error('out of order')\n"),
      args: ["--profile=mine"],
      fails: {
        extensions: [/^greeter could not be loaded: .*out of order/, /correct greeter, or remove it/],
        configuration: [/greeter.*out of order/]
      },
      warns: { sandbox: [/was not tried/], presets: [/were not looked at/] }
    },
    {
      name: "an extension with a copy of its own",
      make: (workspace) =>
        write(join(extension(workspace, plugin), "node_modules/effect/package.json"), '{"name":"effect"}'),
      args: ["--profile", "mine"],
      fails: {
        extensions: [/^greeter brings a copy of effect along/, /peerDependency/],
        configuration: [/brings a copy of effect along/]
      },
      warns: { sandbox: [/was not tried/], presets: [/were not looked at/] }
    },
    {
      name: "a pipe where the settings belong, without waiting for it",
      make: ({ home }) =>
        void spawnSync("mkfifo", ["-m", "600", join(home, "settings.yaml"), join(home, ".credentials.yaml")]),
      fails: { home: [/settings\.yaml, .*\.credentials\.yaml cannot be read without waiting/, /^move it away$/] },
      warns: Object.fromEntries(
        ["sandbox", "key", "settings", "env-files", "configuration", "extensions", "presets", "sessions"].map(
          (check) => [check, [/^it was not looked at/, /^see home$/]]
        )
      )
    },
    {
      name: "an address that is none",
      env: { DEEPSEEK_BASE_URL: "sk-secret-address" },
      fails: { network: [/^DEEPSEEK_BASE_URL is no address of a server$/] }
    }
  ]
  for (const { args, env, fails = {}, make: prepare, name, warns = {} } of broken) {
    it.scopedLive(
      `tells of ${name}`,
      () =>
        Effect.gen(function* () {
          const workspace = yield* make
          prepare?.(workspace)
          const { failed, told, warned } = yield* examine(workspace, env, args)
          const unconfined = env?.["DSH_PERMISSION_MODE"] === "" ? [] : ["sandbox"]
          assert.deepStrictEqual(
            { failed, warned },
            {
              failed: order.filter((check) => check in fails),
              warned: order.filter((check) => check in warns || (unconfined.includes(check) && !(check in fails)))
            },
            JSON.stringify(order.map(told))
          )
          for (const [check, [message, remedy]] of Object.entries({ ...fails, ...warns })) {
            assert.match(told(check).message, message)
            if (remedy !== undefined) assert.match(told(check).remedy ?? "", remedy)
          }
        }),
      60_000
    )
  }

  it.scopedLive(
    "loads an extension that is as it should be",
    () =>
      Effect.gen(function* () {
        const workspace = yield* make
        extension(workspace, plugin)
        const { failed, told } = yield* examine(workspace, {}, ["--profile", "mine"])
        assert.deepStrictEqual(failed, [])
        assert.deepInclude(told("extensions"), { status: "ok", message: "greeter" })
      }),
    60_000
  )

  it.scopedLive("points to sessions that were left open, and to those that cannot be read", () =>
    Effect.gen(function* () {
      const workspace = yield* make
      yield* workspace.run(["run", "one"])
      yield* workspace.run(["run", "two"])
      const [left = "", spoilt = ""] = logs(workspace)
      write(join(left, "session.lock"), `${deadOwner}\n`)
      const log = readFileSync(join(spoilt, "session.jsonl"), "utf8")
      writeFileSync(join(spoilt, "session.jsonl"), `no header\n${log}`)
      const { failed, told } = yield* examine(workspace)
      assert.deepStrictEqual(failed, [])
      const { message, status } = told("sessions")
      assert.strictEqual(status, "warn")
      const [leftId = "", spoiltId = ""] = [left, spoilt].map((folder) => folder.split("/").at(-1))
      assert.include(message, `${leftId}: left open by a process that is gone; "dsh session check ${leftId}"`)
      assert.include(message, `line 1 is bad`)
      assert.include(message, `"dsh session check ${spoiltId}" tells more`)
      // What it points to helps.
      const check = yield* run(workspace, ["session", "check", spoiltId])
      assert.notStrictEqual(check.code, 0)
      assert.include(check.stdout, "HEADER_UNREADABLE")
      // A living owner is nobody's concern.
      write(join(left, "session.lock"), `${JSON.stringify({ pid: process.pid, host: hostname() })}\n`)
      assert.notInclude((yield* examine(workspace)).told("sessions").message, "left open")
    })
  )

  it.scopedLive("lists the sessions of a database", () =>
    Effect.gen(function* () {
      const workspace = yield* make
      const env = { DSH_SESSION_STORE: "sqlite" }
      yield* workspace.run(["run", "one"], { env })
      const { failed, told } = yield* examine(workspace, env)
      assert.deepStrictEqual([failed, told("sessions").message], [[], "1 session"])
    })
  )

  it.scopedLive("tells of an address that refuses, and of a proxy on the way, without its password", () =>
    Effect.gen(function* () {
      const workspace = yield* make
      const address = yield* dead
      const refused = yield* examine(workspace, { DEEPSEEK_BASE_URL: `http://user:hush-hush@${address}/v1` })
      assert.deepStrictEqual([refused.failed, refused.warned], [[], ["sandbox", "network"]])
      assert.match(
        refused.told("network").message,
        new RegExp(`^http://${address}/v1 cannot be reached: .*ECONNREFUSED`)
      )
      assert.isNotEmpty(refused.told("network").remedy)

      const proxied = yield* examine(workspace, {
        DEEPSEEK_BASE_URL: "http://model.example/v1",
        http_proxy: `http://user:hush-hush@${address}`,
        no_proxy: ""
      })
      assert.include(proxied.told("network").message, `the proxy http://${address} cannot be reached`)
      assert.include(proxied.told("network").message, `(set: http_proxy=http://${address})`)
      assert.strictEqual(proxied.told("network").remedy, "check http_proxy")
    })
  )

  it.scopedLive(
    "does not wait for an address that never answers",
    () =>
      Effect.gen(function* () {
        const workspace = yield* make
        const server = yield* silent
        const { failed, told } = yield* examine(workspace, { DEEPSEEK_BASE_URL: `http://127.0.0.1:${portOf(server)}` })
        assert.deepStrictEqual(failed, [])
        assert.deepInclude(told("network"), { status: "warn" })
        assert.match(told("network").message, /gave no answer within 5 s$/)
      }),
    60_000
  )

  it.scopedLive("goes the way through a proxy that works", () =>
    Effect.gen(function* () {
      const workspace = yield* make
      // A proxy for plain HTTP is a server that is asked for whole addresses: the model's own does.
      const { told } = yield* examine(workspace, {
        DEEPSEEK_BASE_URL: "http://model.example/v1",
        http_proxy: new URL(workspace.server.url).origin,
        no_proxy: ""
      })
      assert.match(told("network").message, /^http:\/\/model\.example\/v1 answers \(\d+\) \(set: http_proxy=/)
      assert.strictEqual(told("network").status, "ok")
    })
  )

  it.scopedLive("is a command with help, and takes nothing else", () =>
    Effect.gen(function* () {
      const workspace = yield* make
      assert.include((yield* run(workspace, ["doctor", "--help"])).stdout, "dsh doctor [--profile NAME] [--json]")
      assert.strictEqual((yield* run(workspace, ["doctor", "me"])).code, 2)
    })
  )
})

describe.skipIf(process.platform !== "linux")("dsh doctor, where nothing can be confined", () => {
  const confining = { DSH_PERMISSION_MODE: "workspace-write" }

  it.scopedLive("says how to install what confines, and how to do without", () =>
    Effect.gen(function* () {
      const workspace = yield* make
      const { failed, told } = yield* examine(workspace, { ...confining, PATH: "/nowhere" })
      assert.deepStrictEqual(failed, ["sandbox"])
      assert.include(told("sandbox").message, '"bwrap" is not there')
      assert.match(told("sandbox").remedy ?? "", /^install bubblewrap .*apt install bubblewrap.*danger-full-access/)
    })
  )

  it.scopedLive("says what the system has to allow", () =>
    Effect.gen(function* () {
      const workspace = yield* make
      const bin = join(workspace.home, "bin")
      write(join(bin, "bwrap"), "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n", 0o755)
      const path = `${bin}:${process.env["PATH"] ?? ""}`
      const { failed, told } = yield* examine(workspace, { ...confining, PATH: path })
      assert.deepStrictEqual(failed, ["sandbox"])
      assert.include(
        told("sandbox").message,
        "was not run, because bwrap failed: No permissions to create new namespace"
      )
      assert.match(told("sandbox").remedy ?? "", /^let your user make namespaces .*danger-full-access/)
    })
  )
})

describe.skipIf(!canConfine)(`dsh doctor, confined${canConfine ? "" : ": skipped, bubblewrap is not there"}`, () => {
  it.scopedLive("starts a command in the standing mode", () =>
    Effect.gen(function* () {
      const workspace = yield* make
      for (const mode of ["", "read-only"]) {
        const { failed, told, warned } = yield* examine(workspace, { DSH_PERMISSION_MODE: mode })
        assert.deepStrictEqual([failed, warned], [[], []])
        assert.include(told("sandbox").message, `commands are confined: ${mode || "workspace-write"} in `)
      }
    })
  )
})

describe("dsh config", () => {
  it.scopedLive("says what holds where nothing is set", () =>
    Effect.gen(function* () {
      const workspace = yield* make
      const { home } = workspace
      const { code, stderr, stdout } = yield* run(workspace, ["config"], { DSH_PERMISSION_MODE: "" })
      assert.deepStrictEqual([code, stderr], [0, ""])
      const url = workspace.server.url
      assert.strictEqual(
        stdout,
        `home         ${home}
profile      headless: base, headless  (default)
patches      none
model        deepseek-official/deepseek-v4-flash  (default)
address      ${url}  (DEEPSEEK_BASE_URL)
preset       standard  (default)
permission   workspace-write  (default)
tools        native  (default)
sandbox      workspace-write, network on
sessions     jsonl: ${home}/sessions  (default)
settings     ${home}/settings.yaml  (not there)
credentials  ${home}/.credentials.yaml  (not there)
keys         DEEPSEEK_API_KEY  (the environment)
             EXA_API_KEY  (not set)
             PERPLEXITY_API_KEY  (not set)
proxies      none
environment  DEEPSEEK_API_KEY
             DEEPSEEK_BASE_URL=${url}
             DSH_HOME=${home}
             DSH_MAX_RETRIES=0
`
      )
    })
  )

  it.scopedLive("says who set what is set, in one JSON object", () =>
    Effect.gen(function* () {
      const workspace = yield* make
      const { home, project } = workspace
      const settings = [
        "agent-default-model: { model: deepseek-v4-pro, reasoningEffort: max }",
        "agent-presets: { default: minimal }",
        "permission: { preset: read-only }"
      ]
      write(join(home, "settings.yml"), `${settings.join("\n")}\n`)
      write(join(home, ".credentials.yaml"), "EXA_API_KEY: sk-secret-1234\n")
      write(join(project, ".env"), "PERPLEXITY_API_KEY=sk-secret-5678\n")
      write(join(home, "dsh.patch.yml"), "- id: spil\n  disabled: true\n")
      extension(workspace, plugin)
      const { code, stderr, stdout } = yield* run(workspace, ["config", "--profile", "mine", "--json"], {
        DSH_PERMISSION_MODE: "",
        DSH_SESSION_STORE: "sqlite",
        DSH_SOMETHING: "hush-hush",
        DSH_TOOLS_MODE: "ptc",
        DEEPSEEK_BASE_URL: "https://user:hush-hush@model.example/v1/?key=hush-hush",
        https_proxy: "http://user:hush-hush@proxy.example:3128",
        no_proxy: "localhost"
      })
      assert.strictEqual(code, 0, stderr)
      assert.match(stderr, /^dsh: .*dsh\.patch\.yml:1: there is no row "spil"/)
      const folder = join(home, "profiles", "mine")
      assert.deepStrictEqual(JSON.parse(stdout), {
        home: { path: home, exists: true },
        profile: { name: "mine", bundles: ["base", "headless"], source: folder },
        patches: [join(folder, "dsh.patch.yml"), join(home, "dsh.patch.yml")],
        model: {
          provider: "deepseek-official",
          model: "deepseek-v4-pro",
          reasoningEffort: "max",
          source: "settings"
        },
        address: { value: "https://model.example/v1", source: "DEEPSEEK_BASE_URL" },
        preset: { value: "minimal", source: "settings" },
        permission: { value: "read-only", source: "settings" },
        tools: { value: "ptc", source: "DSH_TOOLS_MODE" },
        sandbox: { mode: "read-only", network: "on" },
        sessions: { store: "sqlite", path: join(home, "sessions.sqlite"), source: "DSH_SESSION_STORE" },
        settings: { path: join(home, "settings.yml"), exists: true },
        credentials: { path: join(home, ".credentials.yaml"), exists: true },
        keys: [
          { name: "DEEPSEEK_API_KEY", source: "env" },
          { name: "EXA_API_KEY", source: "file" },
          { name: "PERPLEXITY_API_KEY", source: "project-env" }
        ],
        proxies: [
          { name: "https_proxy", value: "http://proxy.example:3128" },
          { name: "no_proxy", value: "localhost" }
        ],
        environment: [
          { name: "DEEPSEEK_API_KEY", value: null },
          { name: "DEEPSEEK_BASE_URL", value: "https://model.example/v1" },
          { name: "DSH_HOME", value: home },
          { name: "DSH_MAX_RETRIES", value: "0" },
          { name: "DSH_SESSION_STORE", value: "sqlite" },
          { name: "DSH_SOMETHING", value: null },
          { name: "DSH_TOOLS_MODE", value: "ptc" }
        ]
      })
    })
  )

  it.scopedLive("names the environment where that says what tools may do", () =>
    Effect.gen(function* () {
      const { stdout } = yield* run(yield* make, ["config"])
      assert.include(stdout, "\npermission   danger-full-access  (DSH_PERMISSION_MODE)\n")
      assert.include(stdout, "\nsandbox      danger-full-access, network on\n")
    })
  )

  it.scopedLive("fails as a run would where nothing can hold", () =>
    Effect.gen(function* () {
      const workspace = yield* make
      write(join(workspace.home, "settings.yaml"), "permission: [\n")
      const { code, stderr, stdout } = yield* run(workspace, ["config"])
      assert.deepStrictEqual([code, stdout], [3, ""])
      assert.match(stderr, /^dsh: SETTINGS_INVALID: .*settings\.yaml:/)
      assert.strictEqual((yield* run(workspace, ["config", "--profile", "nope"])).code, 3)
    })
  )
})
