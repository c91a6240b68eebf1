/**
 * Git, as the product itself uses it: without hooks, without anybody to ask, and in the repository of its folder, whatever the environment
 * says.
 */
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { WorkspaceError } from "../Workspaces.ts"

const quiet = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "--no-optional-locks"]

const environment = () => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"))),
  GIT_TERMINAL_PROMPT: "0",
  LC_ALL: "C"
})

/** What it prints, without the newline at the end. */
export const git = (cwd: string, args: ReadonlyArray<string>): Effect.Effect<string, WorkspaceError> =>
  Effect.async((resume) => {
    const options = { cwd, env: environment(), maxBuffer: 64 * 1024 * 1024 }
    const child = execFile("git", [...quiet, ...args], options, (error, stdout, stderr) =>
      resume(
        error === null
          ? Effect.succeed(stdout.replace(/\n$/, ""))
          : new WorkspaceError({
              code: "WORKSPACE_FAILED",
              message: stderr.trim() === "" ? error.message : stderr.trim().split("\n")[0]!,
              cause: error
            })
      )
    )
    return Effect.sync(() => child.kill())
  })
