/**
 * What the model reads of a command in a shell that goes on: its output, then markers in a fixed order.
 */
import * as Text from "@dsh/kernel/Text"
import type { Outcome } from "./Invocation.ts"

export interface Result extends Outcome {
  /** Why there is no status; undefined when there is one. */
  readonly stopped: Stopped | undefined
  /** The next command gets a new shell. */
  readonly reset: boolean
}

export type Stopped =
  | { readonly kind: "timeout"; readonly seconds: number }
  | { readonly kind: "exit"; readonly exitCode: number | null; readonly signal: string | null }
  /** It waited for input that nobody can give it. */
  | { readonly kind: "input" }
  | { readonly kind: "interrupted" }

export interface Options {
  readonly maxOutputChars: number
  /** Where the shell began. */
  readonly folder: string
}

export const render = (result: Result, { folder, maxOutputChars }: Options): string => {
  const { cut, done, lost, output, reset, stopped } = result
  const body = trimmed(output, stopped)
  const kept = Text.head(body, maxOutputChars)
  const isClipped = cut || kept.length < body.length
  const clipped = `[output clipped: only its beginning, ${kept.length} characters, is shown; write it to a file to see more]`
  return [
    ...(lost ? ["[the beginning of the output was lost]"] : []),
    kept.trim() === "" ? "(no output)" : kept,
    ...(isClipped ? [clipped] : []),
    ...(done !== undefined && done.cwd !== folder ? [`[cwd: ${done.cwd}]`] : []),
    ...(stopped === undefined ? [] : [why(stopped)]),
    ...(reset ? ["[the shell was reset: its folder, variables and background commands are gone]"] : []),
    ...(done !== undefined && done.exitCode !== 0 ? [`[exit code: ${done.exitCode}]`] : [])
  ].join("\n")
}

const trimmed = (output: string, stopped: Stopped | undefined): string => {
  const text = output.replace(/\n$/, "")
  // An interactive shell takes its leave.
  return stopped?.kind === "exit" ? text.replace(/(?:^|\n)exit$/, "") : text
}

const why = (stopped: Stopped): string => {
  switch (stopped.kind) {
    case "timeout":
      return `[timed out after ${stopped.seconds} seconds, or there was not enough memory]`
    case "exit": {
      const { exitCode, signal } = stopped
      if (signal !== null) return `[shell killed by signal: ${signal}]`
      return exitCode === null ? "[shell exited]" : `[shell exited: code ${exitCode}]`
    }
    case "input":
      return "[interrupted: it waited for input, and there is nobody to type; pass answers as flags, or pipe them in]"
    case "interrupted":
      return "[interrupted]"
  }
}
