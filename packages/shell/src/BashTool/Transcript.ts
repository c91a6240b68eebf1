/**
 * What the model reads of a finished command: its output, then markers in a fixed order. The text is a contract; models are told to
 * look at the markers, and the exit status on a person's screen is parsed back from the last one.
 */
import type { ShellOutput, ShellResult } from "../Shell.ts"

export interface Options {
  /** Told when it is not the one every call starts in. */
  readonly folder?: string
  /** What to do about a denial of the sandbox. */
  readonly hint?: string
}

export const render = (result: ShellResult, options: Options = {}): string => {
  const output = [...stream(result.stdout), ...stream(result.stderr, "[stderr]")]
  return [...(output.length === 0 ? ["(no output)"] : output), ...markers(result, options)].join("\n")
}

const stream = (output: ShellOutput, heading?: string): ReadonlyArray<string> => {
  const text = output.text.replace(/\n$/, "")
  if (text.trim() === "" && !output.truncated) return []
  const { encoding, truncated } = output
  return [
    ...(heading === undefined ? [] : [heading]),
    text,
    ...(encoding === undefined ? [] : [`[decoded from ${encoding}]`]),
    ...(truncated ? [truncation(output)] : [])
  ]
}

const truncation = (output: ShellOutput): string =>
  `[only the beginning and the end of ${output.totalBytes} bytes are shown; full output: ${output.spillPath ?? "(unavailable)"}]`

const markers = (result: ShellResult, { folder, hint = "" }: Options): ReadonlyArray<string> => [
  ...(folder === undefined ? [] : [`[cwd: ${folder}]`]),
  ...(result.pipeHeld ? [pipeHeld] : []),
  ...(result.sandbox?.denied === true ? [denied(result.sandbox.mode, hint)] : []),
  ...(result.timedOut ? [`[timed out after ${result.timeoutMs}ms]`] : []),
  ...status(result)
]

const pipeHeld =
  "[a background process still held the output when the shell exited; " +
  "what it prints later is lost, and it was stopped unless it runs in a session of its own]"

const denied = (mode: string, hint: string): string => `[denied by the sandbox: its mode is ${mode}${hint}]`

const status = ({ exitCode, signal }: ShellResult): ReadonlyArray<string> => {
  if (signal !== null) return [`[killed by signal: ${signal}]`]
  if (exitCode === null) return ["[still running: it could not be killed]"]
  return exitCode === 0 ? [] : [`[exit code: ${exitCode}]`]
}

const statusLine = /(?:^|\n)\[(?:exit code: (\d+)|killed by signal: (\w+))\]$/

/** The status at the end of a rendered text; a text without one ended well. */
export const statusOf = (text: string): { readonly exitCode: number } | { readonly signal: string } => {
  const [, exitCode, signal] = statusLine.exec(text) ?? []
  return signal === undefined ? { exitCode: Number(exitCode ?? 0) } : { signal }
}
