// The main job, end to end: the real command against a real HTTP server, judged by what it printed, what it did to the world, and
// whether every request can be rebuilt from its log.
import * as ChatRequest from "@dsh/testing/ChatRequest"
import * as MockLlm from "@dsh/testing/MockLlm"
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { dsh } from "./support/Dsh.ts"
import type { Result } from "./support/Dsh.ts"
import * as Workspace from "./support/Workspace.ts"

const bash = (command: string) => ({ name: "bash", arguments: { command, description: "Run a command" } })

const only = (workspace: Workspace.Workspace): string => {
  const [id, ...more] = workspace.sessions()
  assert.isDefined(id)
  assert.deepStrictEqual(more, [])
  return id ?? ""
}

/** `dsh session verify` agrees, for as many requests as the server has seen. */
const verified = (workspace: Workspace.Workspace) =>
  Effect.gen(function* () {
    const { code, stderr, stdout } = yield* workspace.run(["session", "verify", only(workspace)])
    const requests = yield* workspace.server.requests
    assert.deepStrictEqual([code, stderr], [0, ""], stdout)
    const count = requests.length === 1 ? "1 request" : `${requests.length} requests`
    assert.include(stdout, `${count}, each rebuilt byte for byte from the log`)
  })

/** A zombie that nobody has reaped yet runs no more. */
const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return process.platform !== "linux" || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))
  } catch {
    return false
  }
}

const lastEnd = (workspace: Workspace.Workspace) => {
  const last = workspace.log(only(workspace)).at(-1)
  assert.strictEqual(last?.type, "turn/end")
  return last?.data?.["reason"] as { readonly kind: string; readonly error?: { readonly code: string } }
}

/** The messages of a request, without those of the harness. */
const said = (request: ChatRequest.ChatRequest | undefined, by?: string): ReadonlyArray<string> =>
  (request?.messages ?? [])
    .filter(({ role, text }) => (by ?? role) === role && role !== "system" && !text.startsWith("Current context."))
    .map(({ text }) => text)

describe("dsh run", () => {
  it.scopedLive("works with tools until the task is done", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.conversation([
          Reply.toolCalls([{ name: "read", arguments: { file_path: "greeting.txt" } }], { reasoning: "Look first." }),
          Reply.toolCalls([
            { name: "edit", arguments: { file_path: "greeting.txt", old_string: "world", new_string: "moon" } }
          ]),
          Reply.toolCalls([bash("cat greeting.txt && pwd")]),
          (request) =>
            Reply.text(
              ChatRequest.pendingResults(request)
                .map(({ text }) => text)
                .join(),
              { reasoning: "Done." }
            )
        ])
      )
      writeFileSync(join(workspace.project, "greeting.txt"), "hello world\r\n")
      const { code, stderr, stdout } = yield* workspace.run(["run", "--check-invariants", "greet", "the", "moon"])
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /^hello moon\r?\n.*project\n$/)
      assert.strictEqual(stderr, "dsh: reasoning: Look first.\ndsh: reasoning: Done.\n")
      assert.strictEqual(readFileSync(join(workspace.project, "greeting.txt"), "utf8"), "hello moon\r\n")
      const [first] = yield* workspace.server.requests
      assert.strictEqual(said(first?.request).at(-1), "greet the moon")
      assert.includeMembers([...(first?.request?.toolNames ?? [])], ["bash", "edit", "read", "write"])
      yield* verified(workspace)
    })
  )

  it.scopedLive("runs parallel calls of one step and reports them in order", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.conversation([
          Reply.toolCalls(["a", "b", "c"].map((name) => ({ name: "read", arguments: { file_path: `${name}.txt` } }))),
          (request) =>
            Reply.text(
              ChatRequest.pendingResults(request)
                .map(({ text }) => /1: (\w+)/.exec(text)?.[1])
                .join()
            )
        ])
      )
      for (const name of ["a", "b", "c"]) writeFileSync(join(workspace.project, `${name}.txt`), `content${name}\n`)
      const { code, stdout } = yield* workspace.run(["--profile", "headless", "read them"])
      assert.deepStrictEqual([code, stdout], [0, "contenta,contentb,contentc\n"])
      yield* verified(workspace)
    })
  )

  it.scopedLive("goes on for fifty steps", () =>
    Effect.gen(function* () {
      // Each another one: the same call for the fiftieth time would not be made.
      const step = (_: unknown, i: number) => Reply.toolCalls([bash(`echo step >> steps.txt # ${i}`)])
      const workspace = yield* Workspace.make(
        Script.conversation([...Array.from({ length: 49 }, step), Reply.text("enough")])
      )
      const { code, stdout } = yield* workspace.run(["run", "count"])
      assert.deepStrictEqual([code, stdout], [0, "enough\n"])
      assert.strictEqual(readFileSync(join(workspace.project, "steps.txt"), "utf8"), "step\n".repeat(49))
      yield* verified(workspace)
      const bodies = (yield* workspace.server.requests).map(({ body }) => body.toString().slice(0, -2))
      for (let i = 1; i < bodies.length; i++)
        assert.isTrue(bodies[i]!.startsWith(bodies[i - 1]!), `prefix of request ${i}`)
    })
  )

  it.scopedLive("lets the model read what went wrong with a call", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.conversation([
          Reply.toolCalls([
            { name: "teleport", arguments: {} },
            { name: "read", arguments: '{"file_path": "cut o' },
            { name: "read", arguments: { file_path: 7 } },
            { name: "read", arguments: { file_path: "missing.txt" } },
            bash("exit 3")
          ]),
          (request) =>
            Reply.text(
              ChatRequest.pendingResults(request)
                .map(({ text }) => text.split("\n").at(-1))
                .join("\n")
            )
        ])
      )
      const { code, stdout } = yield* workspace.run(["run", "break it"])
      assert.strictEqual(code, 0)
      const lines = stdout.trimEnd().split("\n")
      assert.strictEqual(lines.length, 5)
      for (const [i, expected] of [
        'no tool "teleport"',
        "not a JSON object",
        "file_path",
        "missing.txt",
        "[exit code: 3]"
      ].entries()) {
        assert.include(lines[i], expected)
      }
      yield* verified(workspace)
    })
  )

  it.scopedLive("hands the model on that was asked for", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.sequence([Reply.text("hi")]))
      yield* workspace.run(["run", "--model", "deepseek-v4-pro", "hello"])
      const [request] = yield* workspace.server.requests
      assert.strictEqual(request?.request?.model, "deepseek-v4-pro")
    })
  )

  it.scopedLive("reads the task from stdin", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.sequence([Reply.text("hi")]))
      const { code } = yield* workspace.run(["run"], { stdin: "from a pipe\n" })
      assert.strictEqual(code, 0)
      const [request] = yield* workspace.server.requests
      assert.strictEqual(said(request?.request).at(-1), "from a pipe")
    })
  )

  it.scopedLive("never shows the key", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.conversation([Reply.toolCalls([bash("env; cat /proc/$PPID/cmdline")]), Reply.text("ok")])
      )
      const { stderr, stdout } = yield* workspace.run(["run", "leak it"])
      for (const text of [stdout, stderr, JSON.stringify(workspace.log(only(workspace)))])
        assert.notInclude(text, Workspace.key)
    })
  )
})

describe("dsh run, when the model fails", () => {
  const faults: ReadonlyArray<readonly [what: string, reply: Reply.Reply, code: string]> = [
    ["a 401", Reply.behaviour("auth_error"), "AUTH"],
    ["a 500", Reply.behaviour("server_error"), "SERVER"],
    ["a body that is no event stream", Reply.behaviour("wrong_content_type"), "INVALID_RESPONSE"],
    ["JSON that is none", Reply.behaviour("malformed_json"), "MALFORMED_RESPONSE"],
    ["a stream that ends early", Reply.behaviour("partial_eof"), "STREAM_CLOSED"],
    ["an empty answer", Reply.behaviour("empty"), "EMPTY_RESPONSE"],
    ["a reset connection", Reply.behaviour("connection_reset"), "TRANSPORT"],
    ["an exhausted balance", Reply.behaviour("quota_exceeded"), "QUOTA"],
    [
      "an unknown model",
      Reply.error(400, { message: "Model Not Exist", type: "invalid_request_error" }),
      "INVALID_REQUEST"
    ]
  ]
  for (const [what, reply, expected] of faults) {
    const exitCode = expected === "AUTH" ? 3 : 1
    it.scopedLive(`${what} ends with exit code ${exitCode}, ${expected}, and a closed log`, () =>
      Effect.gen(function* () {
        const workspace = yield* Workspace.make(Script.sequence([reply], "last"))
        const { code, stderr } = yield* workspace.run(["run", "hello"])
        assert.strictEqual(code, exitCode, stderr)
        assert.match(stderr, new RegExp(`^dsh: ${expected}: [^\\n]+\\n$`))
        assert.strictEqual(lastEnd(workspace).error?.code, expected)
        yield* verified(workspace)
      })
    )
  }

  it.scopedLive("what may pass is tried again, and said", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.sequence([Reply.behaviour("server_error"), Reply.behaviour("partial_eof"), Reply.text("at last")])
      )
      const env = { DSH_MAX_RETRIES: "2" }
      const { code, stderr, stdout } = yield* workspace.run(["run", "hello"], { env })
      assert.deepStrictEqual([code, stdout], [0, "at last\n"], stderr)
      assert.match(
        stderr,
        /^dsh: retry 1 of 2 in 0\.[45] s: SERVER: .*\ndsh: retry 2 of 2 in \d\.\d s: STREAM_CLOSED: .*\n$/
      )
      assert.strictEqual((yield* workspace.server.requests).length, 3)
      yield* verified(workspace)
    })
  )

  it.scopedLive("SIGINT ends the wait for a retry at once, with exit code 130 and a closed log", () =>
    Effect.gen(function* () {
      const wait = Reply.error(429, { message: "slow down" }, { "retry-after": "100" })
      const workspace = yield* Workspace.make(Script.sequence([wait], "last"))
      const { code, stderr } = yield* workspace.run(["run", "hello"], {
        env: { DSH_MAX_RETRIES: "5" },
        onOutput: (child, output) => {
          if (output.stderr.includes("in 100.0 s: RATE_LIMIT")) child.kill("SIGINT")
        }
      })
      assert.strictEqual(code, 130, stderr)
      assert.strictEqual(lastEnd(workspace).kind, "aborted")
      assert.strictEqual((yield* workspace.server.requests).length, 1)
      yield* verified(workspace)
    })
  )

  it.scopedLive("ends after --max-steps with exit code 124, and goes on from there", () =>
    Effect.gen(function* () {
      const look = Reply.toolCalls([bash("true")])
      const workspace = yield* Workspace.make(Script.sequence([look, look, Reply.text("done")]))
      const ended = yield* workspace.run(["run", "--max-steps", "2", "look around"])
      assert.strictEqual(ended.code, 124)
      assert.match(ended.stderr, /^dsh: BUDGET: the budget of 2 steps is spent; .*\n$/)
      assert.strictEqual(lastEnd(workspace).kind, "aborted")
      const on = yield* workspace.run(["run", "--max-steps=2", "--continue", "go on"])
      assert.deepStrictEqual([on.code, on.stdout], [0, "done\n"])
      yield* verified(workspace)
      for (const bad of ["0", "-1", "many", "1.5"]) {
        const refused = yield* workspace.run(["run", `--max-steps=${bad}`, "look around"])
        assert.strictEqual(refused.code, 2)
        assert.match(refused.stderr, /^dsh: USAGE: --max-steps takes a whole number above 0, not /)
      }
    })
  )

  it.scopedLive("says what was used, failed attempts included, when it is asked to", () =>
    Effect.gen(function* () {
      const usage = { prompt_tokens: 100, prompt_cache_hit_tokens: 25, completion_tokens: 10 }
      const workspace = yield* Workspace.make(
        Script.sequence([Reply.text("hi", { usage }), Reply.behaviour("server_error"), Reply.text("ho", { usage })])
      )
      const silent = yield* workspace.run(["run", "hello"])
      assert.strictEqual(silent.stderr, "")
      const told = yield* workspace.run(["run", "--usage", "--continue", "hello"], { env: { DSH_MAX_RETRIES: "1" } })
      assert.include(
        told.stderr,
        "\ndsh: used 2 requests, 100 tokens in (25 % from the cache), 10 out, 1 of unknown size; " +
          "context 110 of 1000000 tokens (0 %)\n"
      )
      const { stdout } = yield* workspace.run(["session", "show", only(workspace)])
      assert.include(stdout, "  used 1 request, 100 tokens in (25 % from the cache), 10 out\n")
    })
  )

  it.scopedLive("a number of retries that is none is refused before anything starts", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.sequence([]))
      const { code, stderr } = yield* workspace.run(["run", "hello"], { env: { DSH_MAX_RETRIES: "-1" } })
      assert.strictEqual(code, 3)
      assert.match(stderr, /^dsh: INVALID_CONFIG: DSH_MAX_RETRIES is "-1"; /)
    })
  )

  it.scopedLive("a refused connection names the address", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.sequence([]))
      const url = yield* MockLlm.refusedUrl
      const { code, stderr, stdout } = yield* workspace.run(["run", "hello"], { env: { DEEPSEEK_BASE_URL: url } })
      assert.deepStrictEqual([code, stdout], [1, "\n"])
      assert.match(stderr, /^dsh: TRANSPORT: [^\n]+\n$/)
      assert.include(stderr, new URL(url).host)
      assert.strictEqual(lastEnd(workspace).error?.code, "TRANSPORT")
    })
  )

  it.scopedLive("a proxy that refuses is named, and not asked again", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.sequence([]))
      const proxy = createServer().on("connect", (_, socket) => {
        socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
      })
      yield* Effect.acquireRelease(
        Effect.async<void>((resume) => void proxy.listen(0, "127.0.0.1", () => resume(Effect.void))),
        () => Effect.sync(() => proxy.close().closeAllConnections())
      )
      const { port } = proxy.address() as AddressInfo
      const { code, stderr } = yield* workspace.run(["run", "hello"], {
        env: {
          DEEPSEEK_BASE_URL: "https://model.test",
          HTTPS_PROXY: `http://user:secret@127.0.0.1:${port}`,
          DSH_MAX_RETRIES: "5"
        }
      })
      assert.strictEqual(code, 1, stderr)
      assert.match(
        stderr,
        /^dsh: PROXY_REFUSED: cannot reach https:\/\/model\.test: the proxy http:\/\/127\.0\.0\.1:\d+ .*407[^\n]*\n$/
      )
      assert.notInclude(stderr, "secret")
    })
  )

  it.scopedLive("an answer that hits the ceiling is printed and is no success", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.sequence([Reply.text("cut sho", { finish: "length" })]))
      const { code, stderr, stdout } = yield* workspace.run(["run", "hello"])
      assert.deepStrictEqual([code, stdout], [1, "cut sho\n"])
      assert.match(stderr, /^dsh: MAX_TOKENS: /)
    })
  )

  it.scopedLive("a home that cannot be written is named", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.sequence([Reply.text("hi")]))
      writeFileSync(join(workspace.project, "file"), "")
      const { code, stderr } = yield* workspace.run(["run", "hello"], {
        env: { DSH_HOME: join(workspace.project, "file") }
      })
      assert.include([1, 3], code)
      assert.match(stderr, /^dsh: [A-Z_]+: [^\n]*file/)
    })
  )
})

describe("dsh run, interrupted", () => {
  const signals = [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129]
  ] as const
  for (const [signal, expected] of signals) {
    it.scopedLive(`${signal} in the middle of an answer`, () =>
      Effect.gen(function* () {
        const workspace = yield* Workspace.make(
          Script.sequence([
            Reply.text("some words and then", { reasoning: "thinking", ending: "hold", done: false, finish: null })
          ])
        )
        let sent = false
        const { code, stdout } = yield* workspace.run(["run", "talk"], {
          onOutput: (child, { stderr }) => {
            if (sent || !stderr.includes("thinking")) return
            sent = true
            // The text follows the reasoning on the same connection; the log says what had arrived.
            child.kill(signal)
          }
        })
        assert.strictEqual(code, expected)
        assert.deepStrictEqual(lastEnd(workspace), { kind: "aborted", reason: { kind: "user" } } as never)
        assert.isTrue("some words and then\n".startsWith(stdout.trimEnd()))
        assert.strictEqual((yield* workspace.server.awaitClosedEarly(1)).length, 1)
        yield* verified(workspace)
      })
    )
  }

  it.scopedLive("in the middle of a command: its processes are gone, its call is answered", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.sequence([
          Reply.toolCalls(
            [bash("echo $$ > pid; sleep 600 & echo $! >> pid; touch started; wait"), bash("echo never")],
            {
              reasoning: "go"
            }
          )
        ])
      )
      const started = join(workspace.project, "started")
      const pids = () => readFileSync(join(workspace.project, "pid"), "utf8").trim().split("\n").map(Number)
      let watching = false
      const { code } = yield* workspace.run(["run", "wait"], {
        onOutput: (child) => {
          if (watching) return
          watching = true
          const timer = setInterval(() => {
            if (!existsSync(started)) return
            clearInterval(timer)
            child.kill("SIGINT")
          }, 10)
        }
      })
      assert.strictEqual(code, 130)
      assert.deepStrictEqual(pids().filter(isRunning), [])
      const results = workspace.log(only(workspace)).filter(({ type }) => type === "tool/result")
      assert.deepStrictEqual(
        results.map(({ data }) => (data?.["error"] as { code: string } | undefined)?.code),
        ["ABORTED", "ABORTED_BEFORE_DISPATCH"]
      )
      yield* verified(workspace)
    })
  )
})

describe("dsh run, continued", () => {
  it.scopedLive(
    "after kill -9 in the middle of a command: nothing is lost, and the model hears what it may not repeat",
    () =>
      Effect.gen(function* () {
        const workspace = yield* Workspace.make(
          Script.sequence([
            Reply.toolCalls([
              bash("echo once >> world"),
              bash("echo $$ > pid; touch started; sleep 600"),
              bash("echo never")
            ]),
            Reply.text("all is well")
          ])
        )
        let timer: ReturnType<typeof setInterval> | undefined
        const killed = yield* workspace.run(["run", "work"], {
          onStart: (child) => {
            timer = setInterval(() => {
              if (!existsSync(join(workspace.project, "started"))) return
              clearInterval(timer)
              child.kill("SIGKILL")
            }, 10)
          }
        })
        assert.strictEqual(killed.signal, "SIGKILL")
        process.kill(-Number(readFileSync(join(workspace.project, "pid"), "utf8")), "SIGKILL")
        const before = workspace.log(only(workspace))
        assert.strictEqual(before.at(-1)?.type, "tool/call")

        const { code, stderr, stdout } = yield* workspace.run(["run", "--continue", "go on"])
        assert.deepStrictEqual([code, stderr, stdout], [0, "", "all is well\n"])
        assert.strictEqual(readFileSync(join(workspace.project, "world"), "utf8"), "once\n")
        const after = workspace.log(only(workspace))
        assert.deepStrictEqual(after.slice(0, before.length), [...before])
        assert.deepStrictEqual(
          after
            .slice(before.length, before.length + 4)
            .map(({ data, type }) => [type, (data?.["error"] as { code: string } | undefined)?.code]),
          [
            ["tool/result", "TOOL_OUTCOME_UNKNOWN"],
            ["tool/result", "TOOL_NOT_STARTED"],
            ["step/end", undefined],
            ["turn/end", undefined]
          ]
        )
        const [, second] = yield* workspace.server.requests
        assert.deepStrictEqual(said(second?.request, "user"), ["work", "go on"])
        yield* verified(workspace)
      })
  )

  it.scopedLive("by id, as often as one likes, with the model it had", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.sequence([Reply.text("one"), Reply.text("two"), Reply.text("three")])
      )
      yield* workspace.run(["run", "--model", "deepseek-v4-pro", "first"])
      const id = only(workspace)
      for (const [args, answer] of [
        [["--session", id, "second"], "two"],
        [["--continue", "third"], "three"]
      ] as const) {
        const { code, stderr, stdout } = yield* workspace.run(["run", ...args])
        assert.deepStrictEqual([code, stderr, stdout], [0, "", `${answer}\n`])
      }
      const requests = yield* workspace.server.requests
      assert.deepStrictEqual(
        requests.map(({ request }) => request?.model),
        ["deepseek-v4-pro", "deepseek-v4-pro", "deepseek-v4-pro"]
      )
      assert.deepStrictEqual(said(requests.at(-1)?.request), ["first", "one", "second", "two", "third"])
      yield* verified(workspace)
    })
  )

  it.scopedLive("as a copy, from any place between turns, and the original stays as it was", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.sequence([Reply.text("one"), Reply.text("two"), Reply.text("three"), Reply.text("four")])
      )
      yield* workspace.run(["run", "first"])
      const id = only(workspace)
      yield* workspace.run(["run", "--session", id, "second"])
      const original = workspace.log(id)
      // The log begins with its header; the first turn is followed by the mark of what was resumed.
      const afterFirst = original.findIndex(({ type }) => type === "turn/end") - 1
      for (const [from, history] of [
        [id, ["first", "one", "second", "two"]],
        [`${id}@${afterFirst}`, ["first", "one"]]
      ] as const) {
        const { code, stderr } = yield* workspace.run(["run", "--fork", from, "elsewhere"])
        assert.deepStrictEqual([code, stderr], [0, ""])
        const sent = (yield* workspace.server.requests).at(-1)?.request
        assert.deepStrictEqual(said(sent), [...history, "elsewhere"])
      }
      assert.deepStrictEqual(workspace.log(id), original)
      const sessions = workspace.sessions()
      assert.strictEqual(sessions.length, 3)
      for (const one of sessions) {
        const { code, stdout } = yield* workspace.run(["session", "verify", one])
        assert.strictEqual(code, 0, stdout)
      }
      const open = yield* workspace.run(["run", "--fork", `${id}@${afterFirst - 1}`, "elsewhere"])
      assert.strictEqual(open.code, 1)
      assert.match(open.stderr, /^dsh: OPEN_TURN: .*turn 1 is open; the last event before it is 3\n$/)
      const beyond = yield* workspace.run(["run", "--fork", `${id}@9999`, "elsewhere"])
      assert.match(beyond.stderr, /^dsh: INVALID_BOUNDARY: .*its events are numbered from 0 to \d+\n$/)
    })
  )

  it.scopedLive("where the session was, from wherever, and not when that folder is gone", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.sequence([
          Reply.text("one"),
          Reply.toolCalls([{ name: "bash", arguments: { command: "touch here", description: "Leave a mark" } }]),
          Reply.text("two")
        ])
      )
      yield* workspace.run(["run", "first"])
      const id = only(workspace)
      const elsewhere = yield* workspace.run(["run", "--session", id, "second"], { cwd: workspace.home })
      assert.strictEqual(elsewhere.code, 0, elsewhere.stderr)
      assert.isTrue(existsSync(join(workspace.project, "here")))
      renameSync(workspace.project, `${workspace.project}-moved`)
      for (const from of [
        ["--session", id],
        ["--fork", id]
      ]) {
        const gone = yield* workspace.run(["run", ...from, "third"], { cwd: workspace.home })
        assert.strictEqual(gone.code, 3)
        assert.match(
          gone.stderr,
          /^dsh: FOLDER_MISSING: session \S+ works in \S+project, which is not there any more; /
        )
      }
      assert.strictEqual((yield* workspace.server.requests).length, 3)
      assert.strictEqual(only(workspace), id)
    })
  )

  it.scopedLive("not while another process has the session, and not when there is none", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.sequence([Reply.text("wait", { reasoning: "thinking", ending: "hold", done: false, finish: null })])
      )
      const none = yield* workspace.run(["run", "--continue", "go on"])
      assert.strictEqual(none.code, 1)
      assert.match(none.stderr, /^dsh: SESSION_NOT_FOUND: there is no session of .* to go on with/)
      const unknown = yield* workspace.run(["run", "--session", "nobody", "go on"])
      assert.strictEqual(unknown.code, 1)
      assert.match(unknown.stderr, /^dsh: SESSION_NOT_FOUND: there is no session nobody/)

      let second: Promise<Result> | undefined
      yield* workspace.run(["run", "talk"], {
        onOutput: (child, { stderr }) => {
          if (second !== undefined || !stderr.includes("thinking")) return
          second = dsh(["run", "--continue", "me too"], { cwd: workspace.project, env: workspace.env })
          void second.finally(() => child.kill("SIGINT"))
        }
      })
      const refused = yield* Effect.promise(async () => second)
      assert.strictEqual(refused?.code, 1)
      assert.match(refused?.stderr ?? "", /^dsh: SESSION_IN_USE: session \S+ is in use by process \d+; /)
    })
  )
})

describe("dsh session", () => {
  it.scopedLive("lists, shows and verifies; a tampered log is found out", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(
        Script.conversation([Reply.toolCalls([bash("echo from the tool")]), Reply.text("the answer")])
      )
      const empty = yield* workspace.run(["session", "list"])
      assert.deepStrictEqual([empty.code, empty.stdout, empty.stderr], [0, "", "dsh: there are no sessions yet\n"])
      yield* workspace.run(["run", "the question"])
      const id = only(workspace)
      const list = yield* workspace.run(["session", "list"])
      assert.match(list.stdout, new RegExp(`^${id} .*events.*project\\n$`))
      const json = JSON.parse((yield* workspace.run(["session", "list", "--json"])).stdout)
      assert.strictEqual(json.id, id)
      // A line may stand for many deltas.
      assert.isAtLeast(json.events, workspace.log(id).length - 1)
      assert.isTrue(existsSync(json.path))
      const found = yield* workspace.run(["session", "search", "FROM THE (tool"])
      assert.deepStrictEqual([found.stdout, found.stderr], ["", 'dsh: "FROM THE (tool" is in none of the sessions\n'])
      const lines = (yield* workspace.run(["session", "search", "From The Tool"])).stdout.trimEnd().split("\n")
      assert.strictEqual(lines.length, 2)
      assert.match(lines[0] ?? "", new RegExp(`^${id}  event \\d+  bash: .*echo from the tool`))
      assert.match(lines[1] ?? "", new RegExp(`^${id}  event \\d+  result: from the tool`))
      const shown = yield* workspace.run(["session", "show", id])
      for (const part of ["the question", "→ bash", "from the tool", "the answer", "ended: completed"]) {
        assert.include(shown.stdout, part)
      }
      yield* verified(workspace)

      const path = join(workspace.home, "sessions")
      const log = join(path, readdirSync(path)[0] ?? "", id, "session.jsonl")
      writeFileSync(log, readFileSync(log, "utf8").replaceAll("the question", "another one"))
      const tampered = yield* workspace.run(["session", "verify", id])
      assert.strictEqual(tampered.code, 1)
      assert.include(tampered.stdout, "NOT rebuilt")
    })
  )

  it.scopedLive("an id that names nothing is an error", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.sequence([]))
      for (const command of ["show", "verify"]) {
        for (const id of ["nothing", "../../etc", "a/b"]) {
          const { code, stderr, stdout } = yield* workspace.run(["session", command, id])
          assert.deepStrictEqual([code, stdout], [1, ""])
          assert.match(stderr, /^dsh: [A-Z_]+: [^\n]+\n$/)
        }
      }
    })
  )
})

describe("dsh demo", () => {
  it.scopedLive("repairs a project whose test fails", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.sequence([]))
      const { code, stderr, stdout } = yield* workspace.run(["demo"], { env: { DEEPSEEK_API_KEY: "" } })
      assert.strictEqual(code, 0, stderr)
      assert.include(stdout, "The tests pass.")
      const folder = /the project is in (\S+);/.exec(stderr)?.[1] ?? ""
      assert.include(readFileSync(join(folder, "src", "median.js"), "utf8"), "(a, b) => a - b")
      assert.strictEqual((yield* workspace.run(["session", "verify", only(workspace)])).code, 0)
      rmSync(folder, { recursive: true })
    })
  )
})
