/**
 * A shell on an open PTY as a `Terminal`: typing into it, waiting for it, and its end.
 */
import type { PtyHandle, SubprocessError } from "@dsh/world/Subprocess"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { TerminalError } from "../Terminals.ts"
import type { Ended, Sent, Terminal } from "../Terminals.ts"
import type { Display } from "./Display.ts"
import * as Readiness from "./Readiness.ts"

/** What a program has written when it ends is read in a moment. */
const drainMs = 1000

export const failed = (cause: SubprocessError): TerminalError => {
  const { code, message } = cause
  return new TerminalError({ code: code === "SANDBOX_UNAVAILABLE" ? code : "TERMINAL_FAILED", message, cause })
}

/** When its shell is ready. Fails with `TERMINAL_FAILED` when that ends first. */
export const make = (
  pty: PtyHandle,
  display: Display,
  times: Readiness.Times,
  maxReadBytes: number
): Effect.Effect<Terminal, TerminalError, Scope.Scope> =>
  Effect.gen(function* () {
    const over = yield* following(pty, display)
    const hasEnded = Deferred.isDone(over)
    const end = Deferred.await(over)
    const ended = Effect.flatMap(hasEnded, (is) => (is ? end : Effect.succeed<Ended>(undefined)))
    const wait = (
      by: Pick<Readiness.Watched, "before" | "hasTyped" | "shell" | "single">,
      wanted: Partial<Readiness.Wanted>
    ) => Readiness.ready({ ...by, display, pty, hasEnded, end }, { ...times, inferIdle: true, ...wanted })

    const startup = display.begin()
    const first = yield* wait({ before: undefined, hasTyped: Effect.succeed(true), shell: undefined, single: true }, {})
    if (first.wait === "session_exit") {
      const message = `the shell ended before it was ready: ${startup.text.trim() || "it said nothing"}`
      return yield* new TerminalError({ code: "TERMINAL_FAILED", message })
    }
    const shell = (yield* pty.foreground)?.group

    const signal: Terminal["signal"] = (name) =>
      Effect.gen(function* () {
        if (name === "SIGKILL" && shell !== undefined && (yield* pty.foreground)?.group === shell) {
          const message = "no command is running, and SIGKILL would end the shell; use terminal_close for that"
          return yield* new TerminalError({ code: "SIGNAL_REFUSED", message })
        }
        return yield* Effect.mapError(pty.signal(name), failed)
      })

    const send: Terminal["send"] = (text, { signal: name, submit = true, ...wanted }) =>
      Effect.gen(function* () {
        const front = yield* pty.foreground
        const waiting = front?.waiting
        const before = typeof waiting === "object" ? waiting.id : undefined
        // Else the prompt it waits at is still to be shown, and is none of what is typed now.
        const stood = display.atPrompt
        const capture = display.begin()
        if (name !== undefined) yield* signal(name)
        const bytes = new TextEncoder().encode(submit ? `${text}\r` : text)
        // As long as the program reads. Of a terminal that ends meanwhile its end says enough.
        const typing = yield* Effect.forkScoped(Effect.ignore(pty.write(bytes)))
        const hasTyped = Effect.map(Fiber.poll(typing), Option.isSome)
        const isWaitedFor = stood && before !== undefined && front?.group === shell && !/[\n\r]/.test(text)
        const single = isWaitedFor || bytes.length === 0
        const ready = yield* wait({ before, hasTyped, shell, single }, wanted)
        return { ...ready, text: capture.text, tail: capture.tail, ended: yield* ended } satisfies Sent
      }).pipe(
        Effect.scoped,
        Effect.onInterrupt(() => Effect.ignore(pty.signal("SIGINT")))
      )

    return {
      startup: startup.text,
      send,
      signal,
      read: (offset, count) => Effect.sync(() => display.scrollback.page(offset, count, maxReadBytes)),
      ended,
      terminate: pty.terminate
    }
  })

/** Shows what the terminal puts out, until its shell has ended and everything is shown. */
const following = (pty: PtyHandle, display: Display) =>
  Effect.gen(function* () {
    const over = yield* Deferred.make<NonNullable<Ended>>()
    const show = (bytes: Uint8Array) => Effect.map(Clock.currentTimeMillis, (now) => display.push(bytes, now))
    const reading = yield* Effect.forkScoped(Stream.runForEach(pty.output, show))
    yield* Effect.gen(function* () {
      const exit = yield* pty.exit
      yield* Effect.timeoutOption(Fiber.await(reading), drainMs)
      yield* Deferred.succeed(over, exit)
      // What the shell has left running has no terminal any more.
      yield* pty.terminate
    }).pipe(Effect.forkScoped)
    return over
  })
