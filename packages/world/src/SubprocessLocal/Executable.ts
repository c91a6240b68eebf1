/**
 * Finding a program by name the way execvp would, but in the environment the child will get.
 */
import * as Effect from "effect/Effect"
import * as Fs from "node:fs/promises"
import { constants } from "node:fs"
import * as Path from "node:path"
import { SubprocessError } from "../Subprocess.ts"

export const resolve = (
  command: string,
  env: Readonly<Record<string, string>>
): Effect.Effect<string, SubprocessError> => {
  if (Path.isAbsolute(command)) return firstExecutable([command], command)
  if (command === "" || command.includes("/") || command.includes(Path.sep)) {
    return Effect.fail(
      new SubprocessError({
        code: "SUBPROCESS_INVALID_SPEC",
        message: `"${command}" is a relative path; name a program by an absolute path or by its bare name`
      })
    )
  }
  const folders = (env["PATH"] ?? "").split(Path.delimiter).filter((folder) => Path.isAbsolute(folder))
  return firstExecutable(
    folders.map((folder) => Path.join(folder, command)),
    command
  )
}

const firstExecutable = (candidates: ReadonlyArray<string>, command: string): Effect.Effect<string, SubprocessError> =>
  Effect.findFirst(candidates, isExecutable).pipe(
    Effect.flatten,
    Effect.mapError(
      () =>
        new SubprocessError({
          code: "SUBPROCESS_NOT_FOUND",
          message: Path.isAbsolute(command)
            ? `${command} is not an executable file`
            : `${command} was not found in PATH; install it or give its absolute path`
        })
    )
  )

const isExecutable = (path: string): Effect.Effect<boolean> =>
  Effect.promise(async () => {
    try {
      await Fs.access(path, constants.X_OK)
      return (await Fs.stat(path)).isFile()
    } catch {
      return false
    }
  })
