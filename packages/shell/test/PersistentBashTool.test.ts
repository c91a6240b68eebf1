// A shell that goes on, for real: what stays, what ends it, and what the model reads of that.
import { CallId } from "@dsh/protocol/Ids"
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import * as Sessions from "@dsh/session/Sessions"
import type { Session } from "@dsh/session/Session"
import * as TerminalBash from "@dsh/terminal/TerminalBash"
import { Terminals } from "@dsh/terminal/Terminals"
import * as TerminalsLocal from "@dsh/terminal/TerminalsLocal"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import * as ToolPipeline from "@dsh/tools/ToolPipeline"
import * as Tools from "@dsh/tools/Tools"
import { AmbientEnv } from "@dsh/world/AmbientEnv"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer } from "effect"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import * as Invocation from "../src/PersistentBashTool/Invocation.ts"
import * as PersistentBashTool from "../src/PersistentBashTool.ts"
import { eventually, tempDir } from "./support.ts"

const ambient = Layer.succeed(AmbientEnv, { ...process.env, DEEPSEEK_API_KEY: "sk-secret-0123456789" })

const world = (options?: PersistentBashTool.Options) =>
  PersistentBashTool.layer(options).pipe(
    Layer.provideMerge(TerminalBash.layer({ disposeGraceMs: 300, handoffGraceMs: 200 })),
    Layer.provideMerge(TerminalsLocal.layer),
    Layer.provideMerge(Layer.mergeAll(Sessions.layer, Tools.layer, ToolHooks.layer, SystemPrompt.layer)),
    Layer.provide(Layer.provide(SubprocessLocal.layer({ graceMs: 300 }), ambient))
  )

const made = Effect.gen(function* () {
  const folder = yield* tempDir
  const owner = yield* (yield* Sessions.Sessions).create({ cwd: folder })
  return { folder, owner, bash: (command: string) => call(command, owner) }
})

const call = (command: string, owner: Session | undefined) =>
  Effect.map(
    ToolPipeline.execute({ callId: CallId("c"), name: "bash", arguments: { command }, session: owner }),
    ({ content }) => content.map((block) => (block.type === "text" ? block.text : "")).join("")
  )

const isRunning = (mark: string) => execFileSync("ps", ["-A", "-o", "args="], { encoding: "utf8" }).includes(mark)
const reset = "[the shell was reset: its folder, variables and background commands are gone]"

describe("a shell that goes on", () => {
  it.scopedLive("keeps folder, variables, functions and background commands, and says where it is", () =>
    Effect.gen(function* () {
      const { bash, folder } = yield* made
      assert.strictEqual(yield* bash("pwd"), folder)
      assert.strictEqual(
        yield* bash("mkdir sub && cd sub && X='a b' && f() { echo f$1; }"),
        `(no output)\n[cwd: ${folder}/sub]`
      )
      assert.strictEqual(yield* bash('echo "$X"; f 1; pwd; cd ..'), `a b\nf1\n${folder}/sub`)
      assert.match(yield* bash(`sleep 613${process.pid} & echo $!`), /^\[1\] \d+\n\d+$/)
      assert.strictEqual(yield* bash("jobs -p | wc -l | tr -d ' '"), "1")
    }).pipe(Effect.provide(world()))
  )

  it.scopedLive("takes whatever a command is made of", () =>
    Effect.gen(function* () {
      const { bash, folder } = yield* made
      const cases: ReadonlyArray<readonly [command: string, text: string | RegExp]> = [
        ["echo one\necho two\n", "one\ntwo"],
        ["cat <<'X'\na $b `c` \\d\n\ttab ! é 中 🎉\nX", "a $b `c` \\d\n\ttab ! é 中 🎉"],
        ["for i in 1 2; do\n  echo $i\ndone # with a comment", "1\n2"],
        ["printf 'no end'", "no end"],
        ["printf '\\n\\n'", "(no output)"],
        ["echo it's", /unexpected EOF while looking for matching[^]*\[exit code: [12]\]$/],
        ['echo "', /unexpected EOF[^]*\[exit code: [12]\]$/],
        ["if true; then", /unexpected end of file[^]*\[exit code: [12]\]$/],
        ["echo a)", /syntax error[^]*\[exit code: [12]\]$/],
        ["echo begin; echo end:0:/; echo '$'", "begin\nend:0:/\n$"],
        ["(exit 3)", "(no output)\n[exit code: 3]"],
        ["echo out; ls /no/such/file", /^out\nls: [^]*\[exit code: 2\]$/],
        ["kill -INT $$", "(no output)\n[interrupted]"],
        ["stty echo; echo x", "x"],
        ["echo echoed", "echoed"],
        ["stty raw; echo x; stty sane", "x"],
        ["set -x; echo x; set +x", /x\n/],
        ["set +o emacs +o vi", /./],
        ["echo y; set -o emacs", "y"],
        ["PS1='# '; PS2=; PROMPT_COMMAND=:; echo x", "x"],
        ["echo $DSH_SHELL $TERM $PAGER $GIT_EDITOR", "1 dumb cat false"],
        [`: ${"x".repeat(100_000)}; echo long`, "long"],
        ["env | grep -c secret", "0\n[exit code: 1]"],
        ["pwd", folder]
      ]
      for (const [command, text] of cases) {
        const shown = yield* bash(command)
        if (typeof text === "string") assert.strictEqual(shown, text, command)
        else assert.match(shown, text, command)
      }
    }).pipe(Effect.provide(world()))
  )

  it.scopedLive("keeps the beginning of what is too much, and stays small", () =>
    Effect.gen(function* () {
      const { bash } = yield* made
      const shown = yield* bash("seq 1 300000; false")
      assert.match(shown, /^1\n2\n3\n/)
      assert.match(shown, /\n\[output clipped: only its beginning, 100 characters, .*\]\n\[exit code: 1\]$/)
      assert.strictEqual(yield* bash("echo next"), "next")
    }).pipe(Effect.provide(world({ maxOutputChars: 100 })))
  )

  it.scopedLive("is another one after it has ended", () =>
    Effect.gen(function* () {
      const { bash } = yield* made
      assert.strictEqual(yield* bash("X=1; echo bye; exit 3"), `bye\n[shell exited: code 3]\n${reset}`)
      assert.strictEqual(yield* bash("echo ${X-gone}"), "gone")
      assert.strictEqual(yield* bash("set -e; false"), `(no output)\n[shell exited: code 1]\n${reset}`)
      assert.strictEqual(yield* bash("exec echo replaced"), `replaced\n[shell exited: code 0]\n${reset}`)
      assert.strictEqual(yield* bash("kill -9 $$"), `(no output)\n[shell killed by signal: SIGKILL]\n${reset}`)
      assert.strictEqual(yield* bash("echo again"), "again")
    }).pipe(Effect.provide(world()))
  )

  it.scopedLive("is reset when time is up, also when the shell is something else by then", () =>
    Effect.gen(function* () {
      const { bash } = yield* made
      const mark = `614${process.pid}`
      const late = `[timed out after 0.7 seconds, or there was not enough memory]\n${reset}`
      assert.strictEqual(yield* bash(`echo some; sleep ${mark}`), `some\n${late}`)
      assert.isFalse(isRunning(mark))
      assert.strictEqual(yield* bash(`exec sleep ${mark}`), `(no output)\n${late}`)
      assert.match(yield* bash("yes"), /^y\ny\n[^]*\[output clipped[^]*\[timed out after 0.7 seconds/)
      assert.strictEqual(yield* bash("echo next"), "next")
    }).pipe(Effect.provide(world({ timeoutMs: 700 })))
  )

  it.runIf(process.platform === "linux")("interrupts what waits for input, and goes on", () =>
    Effect.gen(function* () {
      const { bash } = yield* made
      const note =
        "[interrupted: it waited for input, and there is nobody to type; pass answers as flags, or pipe them in]"
      yield* bash("X=kept")
      for (const asking of ["read -p 'sure? ' x", "printf 'sure? '; cat", "printf 'sure? '; read x </dev/tty"]) {
        assert.strictEqual(yield* bash(asking), `sure? \n${note}`)
      }
      assert.match(
        yield* bash("git init -q . && git -c user.name=a -c user.email=a@b commit --allow-empty"),
        /\[exit code: 1\]$/
      )
      assert.strictEqual(yield* bash("echo yes | (read x; echo $x); echo $X"), "yes\nkept")
      const deaf = `bash -c "trap '' INT; echo deaf; while :; do read x; done"`
      assert.strictEqual(yield* bash(deaf), `deaf\n${note}\n${reset}`)
    }).pipe(Effect.provide(world()), Effect.scoped, Effect.runPromise)
  )

  it.scopedLive("is given up when a call is cancelled, promptly", () =>
    Effect.gen(function* () {
      const { bash, folder } = yield* made
      const mark = `615${process.pid}`
      yield* bash("cd /; X=1")
      const calling = yield* Effect.fork(bash(`trap '' INT TERM HUP; sleep ${mark}`))
      yield* eventually(() => isRunning(mark))
      const [took] = yield* Effect.timed(Fiber.interrupt(calling))
      assert.isBelow(Duration.toMillis(took), 1000)
      assert.strictEqual(yield* bash("echo ${X-gone}; pwd"), `gone\n${folder}`)
      yield* eventually(() => !isRunning(mark))
    }).pipe(Effect.provide(world()))
  )

  it.scopedLive("serves one call of an agent after the other, and agents side by side", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* made, yield* made]
      const shown = yield* Effect.all(
        [one.bash("X=1; sleep 0.2; echo $X"), one.bash("echo $X"), other.bash("echo ${X-none}")],
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(shown, ["1", "1", "none"])
      assert.match(yield* call("true", undefined), /belongs to the session of an agent/)
      assert.lengthOf(yield* (yield* Terminals).list(one.owner), 1)
    }).pipe(Effect.provide(world()))
  )

  it.live("ends with its session", () =>
    Effect.gen(function* () {
      const mark = `616${process.pid}`
      yield* Effect.gen(function* () {
        const { bash, folder } = yield* made
        yield* bash(`sleep ${mark} & echo $$ > pid`)
        assert.match(readFileSync(`${folder}/pid`, "utf8"), /^\d+\n$/)
      }).pipe(Effect.scoped)
      yield* eventually(() => !isRunning(mark))
    }).pipe(Effect.provide(world()))
  )
})

describe("Invocation", () => {
  const sent = { wait: "stdin_read", atPrompt: true, ended: undefined } as const
  const { outcome } = Invocation.make("n", "true")

  it("finds the output between its marks, wherever they are", () => {
    const done = { exitCode: 0, cwd: "/w" }
    const end = "\nnend:0:/w\ndsh> "
    assert.deepStrictEqual(outcome({ ...sent, text: `junk\nnbegin\nout${end}`, tail: undefined }), {
      output: "out",
      lost: false,
      cut: false,
      done
    })
    assert.deepInclude(outcome({ ...sent, text: "nbegin\nhead", tail: `tail${end}` }), {
      output: "head",
      cut: true,
      done
    })
    assert.deepInclude(outcome({ ...sent, text: "flood", tail: `tail${end}` }), { output: "tail", lost: true, done })
    assert.deepInclude(outcome({ ...sent, text: "nbegin\nsome\ndsh> ", tail: undefined }), {
      output: "some",
      done: undefined
    })
  })
})
