/**
 * What is wrong with files and folders, in words that say what to do.
 */
import type { PlatformError } from "@effect/platform/Error"
import type { SessionId } from "@dsh/protocol/Ids"
import * as Predicate from "effect/Predicate"
import type { BadLine } from "../JsonlCodec.ts"
import { PersistenceError } from "../PersistenceError.ts"

/** The error of having failed to `action` (as in "write") the file or folder at `path`. */
export const storageFailed = (action: string, path: string) => (cause: PlatformError) =>
  new PersistenceError({
    code: "STORAGE_FAILED",
    message: `cannot ${action} ${path}: ${reasonOf(cause)}; ${adviceFor(cause)}`,
    path,
    cause
  })

/** The error of a failure that could not be undone: both are told. */
export const notUndone = (first: PersistenceError, second: PlatformError) =>
  new PersistenceError({
    code: first.code,
    message: `${first.message}; and what was written could not be taken back: ${reasonOf(second)}`,
    ...(first.path !== undefined && { path: first.path }),
    cause: [first.cause, second]
  })

/** The error of a log that cannot be read, because of one line of it. */
export const unreadable = (file: string, line: number | "last", { cause, code, reason }: BadLine) =>
  new PersistenceError({
    code,
    message:
      code === "UNSUPPORTED_FORMAT"
        ? `${file} cannot be read: ${reason}`
        : `${file} cannot be read: ${line === "last" ? "its last line" : `line ${line}`} is bad: ${reason}; ${howToRepair}`,
    path: file,
    ...(line !== "last" && { line }),
    ...(cause !== undefined && { cause })
  })

/** What to do about a log that makes no sense. */
const howToRepair = '"dsh session check" tells more, and "dsh session repair" repairs it'

/** The error of a log that stands where the log of another session belongs. */
export const misplaced = (file: string, found: SessionId) =>
  new PersistenceError({
    code: "CORRUPT_LOG",
    message: `${file} holds session ${found}, whose folder has another name; rename the folder or move the file away`,
    path: file,
    line: 1
  })

export const ambiguous = (id: SessionId, files: ReadonlyArray<string>) =>
  new PersistenceError({
    code: "AMBIGUOUS_SESSION",
    sessionId: id,
    message: `session ${id} is stored more than once: ${files.join(", ")}; move all but one out of the way`
  })

/** Whether nothing is there: no such file, or something else where a folder would have to be. */
export const isAbsent = (error: PlatformError): boolean =>
  error._tag === "SystemError" && (error.reason === "NotFound" || error.reason === "BadResource")

export const isDenied = (error: PlatformError): boolean =>
  error._tag === "SystemError" && error.reason === "PermissionDenied"

export const isTaken = (error: PlatformError): boolean =>
  error._tag === "SystemError" && error.reason === "AlreadyExists"

const reasonOf = (error: PlatformError): string => error.description ?? error.message

const adviceFor = (error: PlatformError): string => {
  const code = Predicate.hasProperty(error.cause, "code") ? error.cause.code : undefined
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
      return "free some space"
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return "check its permissions or choose another folder for sessions"
    case "EMFILE":
    case "ENFILE":
      return "raise the limit of open files (ulimit -n)"
    case "ENAMETOOLONG":
      return "choose a shorter path for sessions"
    default:
      return "check the disk and try again"
  }
}
