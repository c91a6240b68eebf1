/**
 * Typing into a terminal. Not through a stream of Node's: that one waits for a program that does not read in a loop of its own, and
 * everything else in this process with it.
 */
import * as Effect from "effect/Effect"
import { writeSync } from "node:fs"
import { SubprocessError } from "../../Subprocess.ts"
import * as Ending from "../Ending.ts"

const longestPauseMs = 50

export interface Keyboard {
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, SubprocessError>
  /** From now on writing fails. */
  readonly close: () => void
}

export const make = (fd: number): Keyboard => {
  const turns = Effect.unsafeMakeSemaphore(1)
  let isOpen = true

  /** As many as the terminal takes now. */
  const attempt = (bytes: Uint8Array): number => {
    if (!isOpen) throw closed()
    try {
      return writeSync(fd, bytes)
    } catch (cause) {
      if (cause instanceof Error && "code" in cause && cause.code === "EAGAIN") return 0
      throw closed(cause)
    }
  }

  const write = Effect.fnUntraced(function* (bytes: Uint8Array) {
    for (let at = 0, pause = 1; at < bytes.length;) {
      const written = yield* Effect.try({
        try: () => attempt(bytes.subarray(at)),
        catch: (cause) => (cause instanceof SubprocessError ? cause : closed(cause))
      })
      at += written
      pause = written > 0 ? 1 : Math.min(pause * 2, longestPauseMs)
      if (at < bytes.length) yield* Ending.inRealTime(Effect.sleep(pause))
    }
  })

  return {
    write: (bytes) => turns.withPermits(1)(write(bytes)),
    close: () => {
      isOpen = false
    }
  }
}

export const closed = (cause?: unknown): SubprocessError =>
  new SubprocessError({ code: "SUBPROCESS_STDIN_CLOSED", message: "the terminal has ended", cause })
