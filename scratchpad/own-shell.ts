/**
 * A shell of our own in twenty lines: it runs nothing and says what it would have run.
 */
import { Shell } from "@dsh/shell/Shell"
import type { ShellOutput } from "@dsh/shell/Shell"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const output = (text: string): ShellOutput => ({ text, truncated: false, totalBytes: text.length })

const ended = { exitCode: 0, signal: null }

export const layer = Layer.succeed(Shell, {
  run: ({ command, cwd, timeoutMs = 0 }) =>
    Effect.succeed({
      ...ended,
      timedOut: false,
      timeoutMs,
      stdout: output(`would run: ${command} in ${cwd}`),
      stderr: output(""),
      pipeHeld: false
    }),
  start: ({ command }) =>
    Effect.succeed({ exit: Effect.succeed(ended), output: Effect.succeed(`would start: ${command}`) })
})
