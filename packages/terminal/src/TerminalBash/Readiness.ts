/**
 * When a terminal is ready for the next input. Best of all, its shell says so by its prompt. Else a program is seen to wait for input that
 * did not wait for it before. Else nothing is shown for a while. Else time is up.
 *
 * A prompt counts when the shell is in front again and waits. When it has more lines to read than one it may wait for a moment for the
 * next to arrive, so there it has to go on waiting.
 */
import type { PtyHandle } from "@dsh/world/Subprocess"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { WaitReason } from "../Terminals.ts"
import type { Display } from "./Display.ts"

/** Milliseconds. */
export interface Times {
  readonly pollIntervalMs: number
  /** Nobody is looked at before that. */
  readonly exactProbeAfterMs: number
  /** How long a program has to wait for input to count as waiting. */
  readonly handoffGraceMs: number
  readonly idleSilenceMs: number
  readonly timeoutMs: number
}

export interface Wanted extends Times {
  /** Whether silence counts. */
  readonly inferIdle: boolean
}

export interface Watched {
  readonly display: Display
  readonly pty: PtyHandle
  /** The group of the shell; undefined until that is known. */
  readonly shell: number | undefined
  /** The wait for input that what was typed is to end. */
  readonly before: string | undefined
  /** One line at most was typed, for a shell that waited for it: there will be one prompt. Of others the first may not be the last. */
  readonly single: boolean
  /** Whether all that was to be typed has been. */
  readonly hasTyped: Effect.Effect<boolean>
  readonly hasEnded: Effect.Effect<boolean>
  readonly end: Effect.Effect<unknown>
}

export interface Ready {
  readonly wait: WaitReason
  readonly atPrompt: boolean
}

/** Where the shell has just to take its place in front. */
const promptPollMs = 5

export const ready = (watched: Watched, times: Wanted): Effect.Effect<Ready> =>
  Effect.gen(function* () {
    const { before, display, end, hasEnded, hasTyped, pty, shell, single } = watched
    const started = yield* Clock.currentTimeMillis
    let promptSince: number | undefined
    let steady: { readonly id: string; readonly since: number } | undefined
    for (;;) {
      if (yield* hasEnded) return { wait: "session_exit", atPrompt: false }
      const now = yield* Clock.currentTimeMillis
      const typed = yield* hasTyped
      promptSince = display.atPrompt && typed ? (promptSince ?? now) : undefined
      if (typed && (promptSince !== undefined || now - started >= times.exactProbeAfterMs)) {
        const front = yield* pty.foreground
        const wait = front?.waiting
        const isNew = typeof wait === "object" && wait.id !== before
        const isShell = shell === undefined || front?.group === shell
        steady = !isNew ? undefined : steady?.id === wait.id ? steady : { id: wait.id, since: now }
        const held = steady === undefined ? undefined : now - Math.max(steady.since, display.lastAt)
        if (promptSince !== undefined && isShell) {
          const isSure =
            held === undefined
              ? now - promptSince >=
                (wait === false ? times.idleSilenceMs : single ? times.pollIntervalMs : times.handoffGraceMs)
              : single || held >= times.handoffGraceMs
          if (isSure) return { wait: "stdin_read", atPrompt: true }
        } else if (held !== undefined && typeof wait === "object") {
          // Who listens to other things, too, may be at work.
          if (held >= (wait.only ? times.handoffGraceMs : times.idleSilenceMs)) {
            return { wait: "stdin_read", atPrompt: false }
          }
        }
      }
      if (times.inferIdle && now - Math.max(started, display.lastAt) >= times.idleSilenceMs) {
        return { wait: "inferred_idle", atPrompt: false }
      }
      if (now - started >= times.timeoutMs) return { wait: "timeout", atPrompt: false }
      const isClose = single && promptSince !== undefined && now - promptSince < times.handoffGraceMs
      const pause = Effect.sleep(isClose ? promptPollMs : times.pollIntervalMs)
      yield* Effect.raceFirst(
        Effect.raceFirst(pause, end),
        promptSince === undefined ? prompted(display) : Effect.never
      )
    }
  })

const prompted = (display: Display): Effect.Effect<void> =>
  Effect.async((resume) => Effect.sync(display.watch(() => resume(Effect.void))))
