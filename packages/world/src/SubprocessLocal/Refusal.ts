/**
 * Why a process cannot be started, before and after trying.
 */
import * as Either from "effect/Either"
import { existsSync } from "node:fs"
import { SubprocessError } from "../Subprocess.ts"
import type { PtySpec, SpawnSpec, SubprocessErrorCode } from "../Subprocess.ts"

type Argv = readonly [string, ...Array<string>]

/** The `argv` of a spec that makes sense. */
export const validate = (spec: SpawnSpec): Either.Either<Argv, SubprocessError> => {
  for (const mode of [spec.stdout, spec.stderr]) {
    if (mode !== "stream" && !(Number.isSafeInteger(mode.maxBytes) && mode.maxBytes > 0)) {
      return invalid("maxBytes must be a positive whole number")
    }
  }
  return common(spec)
}

/** Likewise. */
export const validatePty = (spec: PtySpec): Either.Either<Argv, SubprocessError> => {
  for (const size of [spec.rows, spec.cols]) {
    if (!(Number.isSafeInteger(size) && size > 0 && size <= 65_535)) return invalid("rows and cols are from 1 to 65535")
  }
  return common(spec)
}

const common = ({ argv, cwd, graceMs }: SpawnSpec | PtySpec): Either.Either<Argv, SubprocessError> => {
  const [program, ...args] = argv
  if (program === undefined || program === "") return invalid("argv names no program")
  if ([...argv, cwd].some((word) => word.includes("\0"))) return invalid("an argument contains a NUL byte")
  if (graceMs !== undefined && !(graceMs > 0 && graceMs <= 2_147_483_647)) {
    return invalid("graceMs must be a positive number of milliseconds")
  }
  return Either.right([program, ...args])
}

const invalid = (message: string) =>
  Either.left(new SubprocessError({ code: "SUBPROCESS_INVALID_SPEC", message: `cannot start a process: ${message}` }))

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
