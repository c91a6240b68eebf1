/**
 * A command as a line to type into a shell that goes on, and what came of it, found again in what the terminal shows.
 *
 * The command is an argument of `eval`, in characters that neither the terminal nor line editing nor history takes for something else: so
 * nothing in it, unbalanced quotes and markers included, can end the line it is in. What it prints stands between two marks that nobody
 * can know before; in the line they are in pieces, for it may be echoed.
 */
import type { Sent } from "@dsh/terminal/Terminals"

export interface Outcome {
  /** What the command has printed, or the beginning of it. */
  readonly output: string
  /** The beginning of the output is missing. */
  readonly lost: boolean
  /** The end of the output is missing. */
  readonly cut: boolean
  /** Undefined when the command did not come to its end. */
  readonly done: { readonly exitCode: number; readonly cwd: string } | undefined
}

export interface Invocation {
  readonly line: string
  readonly outcome: (sent: Sent) => Outcome
}

/** @param nonce Letters and digits. */
export const make = (nonce: string, command: string): Invocation => {
  const begin = `${nonce}begin\n`
  const end = new RegExp(`\\n${nonce}end:(\\d+):([^\\n]*)\\n`)
  return {
    line: `builtin printf '\\n%s%s\\n' ${nonce} begin; eval ${quote(command)}; builtin printf '\\n%s%s:%s:%s\\n' ${nonce} end "$?" "$PWD"`,
    outcome: ({ atPrompt, tail, text }) => {
      const start = text.indexOf(begin)
      const lost = start < 0
      const shown = lost ? (tail ?? text) : text.slice(start + begin.length)
      const within = end.exec(shown)
      const found = within ?? end.exec(tail ?? "")
      return {
        output:
          within === null ? (atPrompt && found === null ? beforePrompt(shown) : shown) : shown.slice(0, within.index),
        lost: lost && (found !== null || tail !== undefined),
        cut: within === null && found !== null,
        done: found === null ? undefined : { exitCode: Number(found[1]), cwd: found[2] ?? "" }
      }
    }
  }
}

/** The prompt is a line that has not ended. */
const beforePrompt = (shown: string): string => shown.slice(0, Math.max(0, shown.lastIndexOf("\n")))

const quote = (command: string): string => {
  let quoted = "$'"
  for (const byte of new TextEncoder().encode(command)) {
    const char = String.fromCharCode(byte)
    quoted += /^[\w ./=:;,<>()[\]{}|&*?+@%^~$"#`-]$/.test(char) ? char : `\\x${byte.toString(16).padStart(2, "0")}`
  }
  return `${quoted}'`
}
