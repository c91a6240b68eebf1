/**
 * Runs shell scripts as people write them, with the real command as `dsh`.
 */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { bin } from "./Dsh.ts"
import type { Result } from "./Dsh.ts"
import type { Workspace } from "./Workspace.ts"

interface Options {
  readonly env?: Readonly<Record<string, string>>
  readonly onStart?: (child: ChildProcess) => void
}

/** In the project folder. Standard input is `/dev/null`, unless the script says otherwise. */
export const sh = (workspace: Workspace, script: string, { env, onStart }: Options = {}): Effect.Effect<Result> =>
  Effect.promise(
    () =>
      new Promise((resolve, reject) => {
        // A function in the background is a shell of its own, and a signal would go to that: `start` is for what gets one.
        const prelude = `dsh() { "${process.execPath}" "${bin}" "$@"; }\nstart() { "${process.execPath}" "${bin}" "$@" & }\n`
        const child = spawn("bash", ["-c", prelude + script], {
          cwd: workspace.project,
          env: { PATH: process.env["PATH"], ...workspace.env, ...env },
          stdio: ["ignore", "pipe", "pipe"]
        })
        onStart?.(child)
        let [stdout, stderr] = ["", ""]
        child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
        child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
        child.once("error", reject)
        child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }))
      })
  )
