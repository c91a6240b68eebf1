/**
 * Runs the command as users do: the real `bin/dsh.cjs` in a process of its own.
 */
import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { fileURLToPath } from "node:url"

export const bin = fileURLToPath(new URL("../../bin/dsh.cjs", import.meta.url))

export interface Result {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Options {
  /** Added to an environment that has no key and nothing of ours. */
  readonly env?: Readonly<Record<string, string>>
  /** What is piped in; the pipe is closed after it. Default: an empty pipe. */
  readonly stdin?: string
  readonly cwd?: string
  /** Called with the process once it runs. */
  readonly onStart?: (child: ChildProcess) => void
  /** Called with the process and what it printed so far, after each piece of output. */
  readonly onOutput?: (child: ChildProcess, output: { readonly stdout: string; readonly stderr: string }) => void
}

const ours = /^(DSH_|DEEPSEEK_|NO_COLOR$|FORCE_COLOR$|NODE_OPTIONS$)/

/** Runs `node file ...args` to its end. */
export const node = (file: string, args: ReadonlyArray<string>, options: Options = {}): Promise<Result> =>
  new Promise((resolve, reject) => {
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)))
    const child = spawn(process.execPath, [file, ...args], { env: { ...env, ...options.env }, cwd: options.cwd })
    options.onStart?.(child)
    const output = { stdout: "", stderr: "" }
    for (const channel of ["stdout", "stderr"] as const) {
      child[channel].setEncoding("utf8").on("data", (text: string) => {
        output[channel] += text
        options.onOutput?.(child, output)
      })
    }
    child.once("error", reject)
    child.once("close", (code, signal) => resolve({ code, signal, ...output }))
    child.stdin.on("error", () => {})
    child.stdin.end(options.stdin ?? "")
  })

export const dsh = (args: ReadonlyArray<string>, options?: Options): Promise<Result> => node(bin, args, options)
