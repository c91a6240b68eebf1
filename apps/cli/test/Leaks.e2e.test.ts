// Two hundred tool calls of every kind, many of them cancelled at random moments: in the end no process, no file descriptor and no
// temporary file is left.
import { Agents } from "@dsh/agent/Agents"
import * as LlmDeepSeek from "@dsh/llm/LlmDeepSeek"
import type { SandboxMode } from "@dsh/world/Confinement"
import { CallId } from "@dsh/protocol/Ids"
import type { Session } from "@dsh/session/Session"
import * as ToolPipeline from "@dsh/tools/ToolPipeline"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, type Context, Effect, Fiber, Random, Redacted, Schedule } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import * as Headless from "../src/Headless.ts"

const canConfine = process.platform === "linux" && spawnSync("bwrap", ["--ro-bind", "/", "/", "true"]).status === 0

const seed = Number(process.env["LEAKS_SEED"] ?? Date.now() % 1_000_000)

/** Nobody else sleeps for so long. */
const long = `sleep 7${String(seed).padStart(6, "0")}`

const processes = () =>
  execFileSync("ps", ["-A", "-ww", "-o", "pid=,ppid=,args="], { encoding: "utf8" })
    .trimEnd()
    .split("\n")
    .map((line) => {
      const [, pid, parent, args = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
      return { pid: Number(pid), parent: Number(parent), args }
    })

/** What this process started, directly or not, and whatever sleeps for it, whoever its parent is by now. */
const ours = (): ReadonlyArray<string> => {
  const all = processes().filter(({ args }) => !args.startsWith("ps -A"))
  const family = new Set([process.pid])
  for (let size = 0; size < family.size;) {
    size = family.size
    for (const { parent, pid } of all) if (family.has(parent)) family.add(pid)
  }
  family.delete(process.pid)
  return all.flatMap(({ args, pid }) => (family.has(pid) || args.includes(long) ? [args] : [])).sort()
}

const descriptors = () => readdirSync("/proc/self/fd").length

const files = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).map(
    (entry) => join(entry.parentPath, entry.name) + (entry.isDirectory() ? "/" : "")
  )

const bash = (command: string, more: object = {}) => ["bash", { command, description: "Do it", ...more }] as const

/** Where a server takes what it is asked and never answers. */
let slow = ""

const silent = Effect.acquireRelease(
  Effect.async<Http.Server>((resume) => {
    const server = Http.createServer(() => {})
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) =>
    Effect.sync(() => {
      server.closeAllConnections()
      server.close()
    })
)

/** What an agent does all day, and what it better did not. */
const kinds: ReadonlyArray<(n: number) => readonly [name: string, args: object]> = [
  () => bash("echo done"),
  () => bash(long),
  () => bash(`${long} & echo started`),
  () => bash(`setsid ${long} & disown; echo away`),
  () => bash(`(trap '' TERM; ${long}) & trap '' TERM; ${long}`),
  () => bash("head -c 300000 /dev/urandom | base64"),
  () => bash("yes"),
  () => bash("cat; read x; git commit"),
  () => bash(long, { run_in_background: true }),
  () => bash("for i in 1 2 3; do echo $i; done; exit 3", { run_in_background: true }),
  (n) => ["job_output", { job_id: `bash-${(n % 5) + 1}` }],
  (n) => ["job_kill", { job_id: `bash-${(n % 5) + 1}` }],
  () => ["job_list", {}],
  () => ["read", { file_path: "big.txt" }],
  (n) => ["write", { file_path: `made/file-${n}.txt`, content: "x".repeat(100_000) }],
  (n) => ["edit", { file_path: "big.txt", old_string: "line 500\n", new_string: `line 500\nline ${n}\n` }],
  () => ["glob", { pattern: "**/*" }],
  () => ["grep", { pattern: "line" }],
  () => ["web_fetch", { url: `${slow}/never` }],
  () => ["web_fetch", { url: "http://127.0.0.1:9/refused" }],
  () => ["terminal_open", { type: "shell" }],
  () => ["terminal_list", {}],
  (n) => ["terminal_send", { sessionId: `pty-${(n % 3) + 1}`, text: long }],
  (n) => ["terminal_send", { sessionId: `pty-${(n % 3) + 1}`, text: "yes", run_in_background: true }],
  (n) => ["terminal_signal", { sessionId: `pty-${(n % 3) + 1}`, signal: "SIGINT" }],
  (n) => ["terminal_close", { sessionId: `pty-${(n % 4) + 1}` }],
  () => ["read", { file_path: "/dev/zero" }]
]

const calls = 200

/** Every kind once, then by chance; half of them are cancelled, after up to 300 ms. */
const use = (session: Session) =>
  Effect.forEach(
    Array.from({ length: calls }, (_, n) => n),
    (n) =>
      Effect.gen(function* () {
        const kind = n < kinds.length ? n : yield* Random.nextIntBetween(0, kinds.length)
        const [name, args] = kinds[kind]!(n)
        const call = yield* Effect.fork(
          ToolPipeline.execute({
            callId: CallId(`call-${n}`),
            name,
            arguments: JSON.parse(JSON.stringify(args)),
            session
          })
        )
        // What would go on for ever is always cancelled.
        const endless = /sleep|yes|cat|never/.test(JSON.stringify(args))
        if (!endless && (yield* Random.nextBoolean)) return yield* Fiber.await(call)
        yield* Effect.sleep(yield* Random.nextIntBetween(0, 300))
        return yield* Fiber.interrupt(call)
      }),
    { concurrency: 8, discard: true }
  )

const eventually = (what: string, left: () => ReadonlyArray<string>) =>
  Effect.suspend(() => (left().length === 0 ? Effect.void : Effect.fail(left()))).pipe(
    Effect.retry(Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(200))),
    Effect.catchAll((still) => Effect.sync(() => assert.fail(`${what}, seed ${seed}: ${still.join("\n")}`)))
  )

const life = (mode: SandboxMode, root: string) =>
  Effect.gen(function* () {
    const agents = yield* Agents
    const cwd = join(root, "project")
    const agent = yield* agents.create({ cwd, provider: LlmDeepSeek.provider, model: "deepseek-v4-flash" })
    yield* Effect.withRandom(use(agent.session), Random.make(seed)).pipe(
      Effect.provide(agent.realm as Context.Context<ToolPipeline.PipelineServices>)
    )
  }).pipe(
    Effect.scoped,
    Effect.provide(
      Headless.layer({
        permission: mode,
        provider: { apiKey: Redacted.make("k"), baseUrl: "http://127.0.0.1:9" },
        own: {
          entries: [
            { kind: "change", id: "persistence", changes: { config: { root: join(root, "home") } } },
            {
              kind: "insert",
              rows: [
                { id: "terminals", name: "@dsh/terminal/TerminalsLocal" },
                { id: "terminal-bash", name: "@dsh/terminal/TerminalBash" },
                { id: "terminal-tools", name: "@dsh/terminal/TerminalTools" }
              ]
            }
          ]
        }
      })
    )
  )

const modes: ReadonlyArray<SandboxMode> = canConfine
  ? ["danger-full-access", "workspace-write"]
  : ["danger-full-access"]

describe.runIf(process.platform === "linux")("two hundred tool calls", () => {
  for (const mode of modes) {
    it.scopedLive(
      `leave nothing behind in mode ${mode}`,
      () =>
        Effect.gen(function* () {
          const root = yield* Effect.acquireRelease(
            Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "dsh-leaks-")))),
            (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
          )
          const [project, temp] = [join(root, "project"), join(root, "tmp")]
          mkdirSync(project)
          mkdirSync(temp)
          writeFileSync(join(project, "big.txt"), Array.from({ length: 20_000 }, (_, i) => `line ${i}\n`).join(""))
          const before = { tmp: process.env["TMPDIR"], ours: ours(), descriptors: descriptors() }
          process.env["TMPDIR"] = temp
          yield* Effect.addFinalizer(() =>
            Effect.sync(() => {
              if (before.tmp === undefined) delete process.env["TMPDIR"]
              else process.env["TMPDIR"] = before.tmp
            })
          )
          yield* Effect.scoped(
            Effect.gen(function* () {
              const { port } = (yield* silent).address() as AddressInfo
              slow = `http://localhost:${port}`
              yield* Effect.withConfigProvider(
                life(mode, root),
                ConfigProvider.orElse(
                  ConfigProvider.fromMap(new Map([["DSH_WEB_ALLOW", `localhost:${port}`]])),
                  ConfigProvider.fromEnv
                )
              )
            })
          )
          yield* eventually("processes are left", () => ours().filter((args) => !before.ours.includes(args)))
          yield* eventually("descriptors are left", () =>
            descriptors() > before.descriptors ? readdirSync("/proc/self/fd") : []
          )
          // Results that were too long are kept for the session, in its own folder. What was mounted there leaves an empty one.
          const kept = /\/dsh-tmp-\d+\/(session-[\w-]+\/([\da-f]{12}-\w+\.txt|.*\/)?)?$/
          yield* eventually("temporary files are left", () => files(temp).filter((name) => !kept.test(name)))
          // Staging folders of files that were being written.
          const made = files(project).filter((name) => !/\/(big\.txt|made\/|made\/file-\d+\.txt)$/.test(name))
          assert.deepStrictEqual(made, [], `seed ${seed}`)
        }),
      300_000
    )
  }
})
