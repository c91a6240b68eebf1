// When a terminal is ready, on a clock of the test's own and with a program that does what the test says.
import type { Foreground, PtyHandle } from "@dsh/world/Subprocess"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Stream, TestClock } from "effect"
import { Display } from "../src/TerminalBash/Display.ts"
import * as Readiness from "../src/TerminalBash/Readiness.ts"

const shell = 10
const limits = { scrollbackLines: 100, scrollbackMaxBytes: 10_000, maxReadBytes: 1000 }
const mark = "\x1b]133;D;0;n\x07"
const times = {
  pollIntervalMs: 50,
  exactProbeAfterMs: 150,
  handoffGraceMs: 500,
  idleSilenceMs: 3000,
  timeoutMs: 30_000,
  inferIdle: true
}

const made = ({ single = true, ...options }: Partial<Readiness.Wanted> & { readonly single?: boolean } = {}) =>
  Effect.gen(function* () {
    const state: { front: Foreground | undefined; typed: boolean } = {
      front: { group: shell, waiting: { id: "before", only: true } },
      typed: true
    }
    const pty: PtyHandle = {
      pid: shell,
      output: Stream.empty,
      exit: Effect.never,
      write: () => Effect.void,
      foreground: Effect.sync(() => state.front),
      signal: () => Effect.succeed(shell),
      terminate: Effect.void
    }
    const display = new Display(limits, /^133;D;\d+;n$/, "dsh> ")
    const over = yield* Deferred.make<void>()
    const show = (text: string) =>
      Effect.map(Effect.clock, (clock) => display.push(new TextEncoder().encode(text), clock.unsafeCurrentTimeMillis()))
    display.begin()
    const fiber = yield* Effect.fork(
      Readiness.ready(
        {
          display,
          pty,
          shell,
          before: "before",
          single,
          hasTyped: Effect.sync(() => state.typed),
          hasEnded: Deferred.isDone(over),
          end: Deferred.await(over)
        },
        { ...times, ...options }
      )
    )
    /** What it says after so long, and nothing a moment earlier. */
    const after = (millis: number) =>
      Effect.gen(function* () {
        yield* TestClock.adjust(Duration.millis(millis - 1))
        assert.isNull(fiber.unsafePoll(), "too early")
        yield* TestClock.adjust("1 millis")
        return yield* Fiber.join(fiber)
      })
    return { state, show, over, after, now: Fiber.join(fiber) }
  })

const waiting = (id: string, only = true) => ({ id, only })
const program = (wait: Foreground["waiting"]) => ({ group: 20, waiting: wait })

describe("a terminal is ready", () => {
  it.effect("at once when the shell shows its prompt and waits", () =>
    Effect.gen(function* () {
      const { now, show, state } = yield* made()
      state.front = { group: shell, waiting: waiting("next") }
      yield* TestClock.adjust("10 millis")
      yield* show(`out\r\n${mark}dsh> `)
      assert.deepStrictEqual(yield* now, { wait: "stdin_read", atPrompt: true })
    })
  )

  it.effect("not by a prompt with something behind it, of somebody else, or before everything was typed", () =>
    Effect.gen(function* () {
      const { after, show, state } = yield* made({ inferIdle: false })
      state.typed = false
      yield* show(`${mark}dsh> `)
      state.front = { group: shell, waiting: waiting("next") }
      yield* TestClock.adjust("1 seconds")
      state.typed = true
      yield* show("more")
      state.front = program(waiting("other", false))
      yield* TestClock.adjust("1 seconds")
      yield* show(`${mark}dsh> `)
      yield* TestClock.adjust("1 seconds")
      yield* show("\x1b]133;D;0;other\x07dsh> ")
      state.front = { group: shell, waiting: false }
      assert.deepStrictEqual(yield* after(27_000), { wait: "timeout", atPrompt: false })
    })
  )

  it.effect("only when it goes on waiting, if more than one line was typed", () =>
    Effect.gen(function* () {
      const { after, show, state } = yield* made({ single: false })
      state.front = { group: shell, waiting: waiting("first") }
      yield* show(`${mark}dsh> `)
      yield* TestClock.adjust("400 millis")
      yield* show(`\r\n${mark}dsh> `)
      state.front = { group: shell, waiting: waiting("second") }
      assert.deepStrictEqual(yield* after(550), { wait: "stdin_read", atPrompt: true })
    })
  )

  it.effect("by a prompt that stays, where nobody can be seen to wait", () =>
    Effect.gen(function* () {
      const { after, show, state } = yield* made()
      state.front = { group: shell, waiting: undefined }
      yield* show(`${mark}dsh> `)
      assert.deepStrictEqual(yield* after(50), { wait: "stdin_read", atPrompt: true })
    })
  )

  it.effect("when a program waits for input that did not wait before", () =>
    Effect.gen(function* () {
      const { after, state } = yield* made()
      yield* TestClock.adjust("1 seconds")
      state.front = program(waiting("new"))
      yield* TestClock.adjust("400 millis")
      state.front = program(waiting("newer"))
      assert.deepStrictEqual(yield* after(550), { wait: "stdin_read", atPrompt: false })
    })
  )

  it.effect("later when the program may be at work and only listens as well", () =>
    Effect.gen(function* () {
      const { after, show, state } = yield* made({ inferIdle: false })
      state.front = program(waiting("new", false))
      yield* TestClock.adjust("2 seconds")
      yield* show("still busy")
      assert.deepStrictEqual(yield* after(3000), { wait: "stdin_read", atPrompt: false })
    })
  )

  it.effect("after silence, unless that is not to count", () =>
    Effect.gen(function* () {
      const quiet = yield* made()
      quiet.state.front = program(false)
      yield* TestClock.adjust("2 seconds")
      yield* quiet.show("x")
      assert.deepStrictEqual(yield* quiet.after(3000), { wait: "inferred_idle", atPrompt: false })
      const patient = yield* made({ inferIdle: false })
      patient.state.front = program(false)
      assert.deepStrictEqual(yield* patient.after(30_000), { wait: "timeout", atPrompt: false })
    })
  )

  it.effect("never again when it has ended", () =>
    Effect.gen(function* () {
      const { now, over } = yield* made()
      yield* TestClock.adjust("1 seconds")
      yield* Deferred.succeed(over, undefined)
      assert.deepStrictEqual(yield* now, { wait: "session_exit", atPrompt: false })
    })
  )
})
