/**
 * A question to whoever sits at the terminal whose answer is not shown.
 */
import * as Effect from "effect/Effect"

/** A terminal: what people type, and where they are asked. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly setRawMode?: (raw: boolean) => unknown }
  readonly output: NodeJS.WritableStream
}

const enter = new Set(["\r", "\n"])
const [interrupt, end, clear, rubOut, backspace] = ["\u0003", "\u0004", "\u0015", "\u007f", "\b"]

/** The line that was typed; nothing when the input ends. Ctrl+C is that of a program. */
export const ask = (question: string, { input, output }: Terminal): Effect.Effect<string | undefined> =>
  Effect.async<string | undefined>((resume) => {
    let typed: Array<string> = []
    const close = (): void => {
      input.off("data", take)
      input.off("end", ended)
      input.setRawMode?.(false)
      input.pause()
      output.write("\n")
    }
    const answer = (line: string | undefined): void => {
      close()
      resume(Effect.succeed(line))
    }
    const ended = () => answer(typed.length === 0 ? undefined : typed.join(""))
    const take = (data: Uint8Array | string): void => {
      for (const char of data.toString()) {
        if (enter.has(char)) return answer(typed.join(""))
        if (char === end) return ended()
        if (char === interrupt) {
          close()
          process.kill(process.pid, "SIGINT")
          return
        }
        if (char === clear) typed = []
        else if (char === rubOut || char === backspace) typed.pop()
        else typed.push(char)
      }
    }
    output.write(`dsh: ${question}: `)
    // Before anything is typed: what a terminal shows cannot be taken back.
    input.setRawMode?.(true)
    input.on("data", take)
    input.once("end", ended)
    input.resume()
    return Effect.sync(close)
  })
