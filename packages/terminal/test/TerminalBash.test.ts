// A real bash on a real terminal: what is shown, and when it is ready.
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { opened, running, session, terminals, eventually } from "./support.ts"

const isLinux = process.platform === "linux"
const world = terminals()

describe("a shell on a terminal", () => {
  it.scopedLive("keeps its state, and says when a command is done", () =>
    Effect.gen(function* () {
      const { id, send, startup } = yield* opened(yield* session, "/usr")
      assert.strictEqual(startup, "dsh> ")
      const first = yield* send("cd /; X=1; echo $PWD $X $TERM $DSH_PTY_SESSION_ID $DSH_SHELL")
      assert.deepInclude(first, { wait: "stdin_read", atPrompt: true, ended: undefined, tail: undefined })
      assert.match(first.text, new RegExp(`^cd /.*\\n/ 1 dumb ${id} 1\\ndsh> $`))
      assert.match((yield* send("echo $PWD$X; false")).text, /\n\/1\ndsh> $/)
      assert.match((yield* send("echo $?")).text, /\n1\ndsh> $/)
    }).pipe(Effect.provide(world))
  )

  it.scopedLive("takes several lines at once, and is done after the last", () =>
    Effect.gen(function* () {
      const { send } = yield* opened(yield* session)
      const { atPrompt, text } = yield* send("sleep 0.3\necho o''ne\nsleep 0.3\necho t''wo")
      assert.isTrue(atPrompt)
      assert.match(text, /one\n[^]*two\ndsh> $/)
    }).pipe(Effect.provide(world))
  )

  it.scopedLive("is not fooled by a prompt that somebody else shows", () =>
    Effect.gen(function* () {
      const { send } = yield* opened(yield* session)
      const fake = `printf '\\033]133;D;0;x\\007dsh> '; sleep 0.5; echo rea''lly`
      assert.match((yield* send(fake)).text, /dsh> really\ndsh> $/)
    }).pipe(Effect.provide(world))
  )

  it.runIf(isLinux)("sees programs wait for input, and go on", () =>
    Effect.gen(function* () {
      const { send } = yield* opened(yield* session)
      const asked = yield* send("read -p 'name? ' name; echo hello $name")
      assert.deepInclude(asked, { wait: "stdin_read", atPrompt: false })
      assert.match(asked.text, /\nname\? $/)
      assert.match((yield* send("you")).text, /hello you\ndsh> $/)
      const fake = yield* send(`printf '\\033]133;D;0;x\\007dsh> '; read x`)
      assert.deepInclude(fake, { wait: "stdin_read", atPrompt: false })
      yield* send("")
      const half = yield* send(`echo "`)
      assert.deepInclude(half, { wait: "stdin_read", atPrompt: false })
      assert.deepInclude(yield* send(`"`), { atPrompt: true })
      const repl = yield* send("cat")
      assert.deepInclude(repl, { wait: "stdin_read", atPrompt: false })
      assert.match((yield* send("line")).text, /^line\nline\n$/)
      // Typed without Enter nothing happens: the wait is the one there was before.
      assert.deepInclude(yield* send("more", { submit: false, timeoutMs: 700 }), { wait: "timeout" })
    }).pipe(Effect.provide(world), Effect.scoped, Effect.runPromise)
  )

  it.scopedLive("gives up after silence, or when time is up, and the command goes on", () =>
    Effect.gen(function* () {
      const { read, send, signal } = yield* opened(yield* session)
      assert.deepInclude(yield* send("sleep 1; echo aft''er; sleep 600"), { wait: "inferred_idle" })
      assert.deepInclude(yield* send("", { submit: false, timeoutMs: 100 }), { wait: "timeout" })
      yield* Effect.repeat(read(), { until: ({ text }) => text.includes("\nafter") })
      assert.isAbove(yield* signal("SIGINT"), 0)
    }).pipe(Effect.provide(terminals({ idleSilenceMs: 300 })))
  )

  it.scopedLive("ends with its shell, and takes with it what that left running", () =>
    Effect.gen(function* () {
      const { close, read, send } = yield* opened(yield* session)
      const mark = `611${process.pid}`
      const last = yield* send(`(trap '' HUP; exec sleep ${mark}) & exit 3`)
      assert.deepInclude(last, { wait: "session_exit", ended: { exitCode: 3, signal: null } })
      yield* eventually(() => running(`sleep ${mark}`).length === 0)
      assert.deepInclude(yield* send("echo more"), { wait: "session_exit", text: "" })
      assert.match((yield* read()).text, /exit/)
      assert.deepInclude(yield* close, { ended: { exitCode: 3, signal: null } })
    }).pipe(Effect.provide(world))
  )

  it.scopedLive("interrupts what runs when a send is cancelled", () =>
    Effect.gen(function* () {
      const { send } = yield* opened(yield* session)
      const mark = `612${process.pid}`
      const sending = yield* Effect.fork(send(`sleep ${mark}`))
      yield* eventually(() => running(`sleep ${mark}`).length > 0)
      yield* Fiber.interrupt(sending)
      yield* eventually(() => running(`sleep ${mark}`).length === 0)
      assert.match((yield* send("echo $?")).text, /130\ndsh> $/)
    }).pipe(Effect.provide(terminals({ handoffGraceMs: 500 })))
  )

  it.scopedLive("sends signals to what is in front, and never kills itself", () =>
    Effect.gen(function* () {
      const { send, signal } = yield* opened(yield* session)
      assert.strictEqual((yield* Effect.flip(signal("SIGKILL"))).code, "SIGNAL_REFUSED")
      yield* send("sh -c 'echo u''p; exec sleep 600'", { timeoutMs: 300 })
      yield* signal("SIGKILL")
      assert.match((yield* send("echo $?")).text, /137\ndsh> $/)
    }).pipe(Effect.provide(terminals({ handoffGraceMs: 500 })))
  )

  it.scopedLive("keeps the last lines of a flood, and the beginning for who sent it", () =>
    Effect.gen(function* () {
      const { read, send } = yield* opened(yield* session)
      const { tail, text } = yield* send("seq 1 200000", { inferIdle: false })
      assert.strictEqual(text.length, 10_000)
      assert.match(text, /^seq 1 200000\n1\n2\n/)
      assert.match(tail!, /\n200000\ndsh> $/)
      const page = yield* read(1, 2)
      assert.deepInclude(page, { text: "199999\n200000", to: page.total - 1 })
      assert.isAtMost((yield* read(0, 1_000_000)).text.split("\n").length, 1000)
      const before = process.memoryUsage.rss()
      yield* send("yes", { timeoutMs: 1500, inferIdle: false })
      assert.isBelow(process.memoryUsage.rss() - before, 100_000_000)
    }).pipe(Effect.provide(terminals({ maxReadBytes: 10_000, scrollbackLines: 1000 })))
  )

  it.scopedLive("leaves out control sequences and what other users have set", () =>
    Effect.gen(function* () {
      const { send } = yield* opened(yield* session)
      const { text } = yield* send(`printf '\\033[31mre''d\\033[0m \\033]0;title\\007\\rx\\r\\n'; echo "[$HISTFILE]"`)
      assert.match(text, /\nred \nx\n\[\]\ndsh> $/)
      assert.notInclude(text, "\x1b")
    }).pipe(Effect.provide(world))
  )
})
