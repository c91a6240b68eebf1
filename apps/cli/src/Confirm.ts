/**
 * A question to whoever sits at the terminal.
 */
import * as Effect from "effect/Effect"
import { createInterface } from "node:readline"

/** A terminal: what people type, and where they are asked. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean }
}

/** Whether they said yes; nothing when nobody can be asked. Anything but yes is no, and so is the end of the input. */
export const ask = (
  question: string,
  terminal: () => Terminal = () => ({ input: process.stdin, output: process.stderr })
): Effect.Effect<boolean | undefined> =>
  Effect.suspend(() => {
    const { input, output } = terminal()
    if (input.isTTY !== true || output.isTTY !== true) return Effect.succeed(undefined)
    return Effect.async<boolean>((resume) => {
      const lines = createInterface({ input, output })
      lines.once("close", () => resume(Effect.succeed(false)))
      lines.once("SIGINT", () => process.kill(process.pid, "SIGINT"))
      lines.question(`dsh: ${question} [y/N] `, (answer) => {
        resume(Effect.succeed(/^y(es)?$/i.test(answer.trim())))
        lines.close()
      })
      return Effect.sync(() => lines.close())
    })
  })
