/**
 * Why a process cannot be started, before and after trying.
 */
import * as Either from "effect/Either"
import { existsSync } from "node:fs"
import { SubprocessError } from "../Subprocess.ts"
import type { SpawnSpec, SubprocessErrorCode } from "../Subprocess.ts"

/** The `argv` of a spec that makes sense. */
export const validate = (spec: SpawnSpec): Either.Either<readonly [string, ...Array<string>], SubprocessError> => {
  const invalid = (message: string) =>
    Either.left(new SubprocessError({ code: "SUBPROCESS_INVALID_SPEC", message: `cannot start a process: ${message}` }))
  const [program, ...args] = spec.argv
  if (program === undefined || program === "") return invalid("argv names no program")
  if ([...spec.argv, spec.cwd].some((word) => word.includes("\0"))) return invalid("an argument contains a NUL byte")
  for (const mode of [spec.stdout, spec.stderr]) {
    if (mode !== "stream" && !(Number.isSafeInteger(mode.maxBytes) && mode.maxBytes > 0)) {
      return invalid("maxBytes must be a positive whole number")
    }
  }
  if (spec.graceMs !== undefined && !(spec.graceMs > 0 && spec.graceMs <= 2_147_483_647)) {
    return invalid("graceMs must be a positive number of milliseconds")
  }
  return Either.right([program, ...args])
}

/** What the system answered, in words that say what to do. */
export const spawnError = (program: string, cwd: string, cause: unknown): SubprocessError => {
  const errno = cause instanceof Error && "code" in cause ? cause.code : undefined
  const fail = (code: SubprocessErrorCode, message: string) => new SubprocessError({ code, message, cause })
  // The system reports a missing working directory as if the program were missing.
  if (errno === "ENOENT" && !existsSync(cwd)) {
    return fail("SUBPROCESS_CWD_NOT_FOUND", `the working directory ${cwd} does not exist`)
  }
  switch (errno) {
    case "ENOENT":
      return fail("SUBPROCESS_NOT_FOUND", `${program} was not found; install it or give its absolute path`)
    case "ENOTDIR":
      return fail("SUBPROCESS_CWD_NOT_FOUND", `the working directory ${cwd} is not a directory`)
    case "EACCES":
      return fail("SUBPROCESS_PERMISSION_DENIED", `not allowed to run ${program} in ${cwd}`)
    case "E2BIG":
      return fail(
        "SUBPROCESS_TOO_LONG",
        `the arguments of ${program} are too long for the system; put long text into a file and pass its path`
      )
    default:
      return fail("SUBPROCESS_SPAWN_FAILED", `${program} could not be started: ${String(cause)}`)
  }
}
