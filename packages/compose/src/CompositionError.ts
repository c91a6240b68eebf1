/**
 * What is wrong with a composition: which row of which file, why, and what to do about it. Several can be wrong at once; all are told.
 */
import * as Data from "effect/Data"

/** Where something is written. */
export interface Place {
  /** A file by its absolute path, or what else it is: `bundle base`, `the command line`. */
  readonly source: string
  /** Counts from 1. */
  readonly line?: number | undefined
}

export const showPlace = ({ line, source }: Place): string => (line === undefined ? source : `${source}:${line}`)

export type Code =
  // files
  | "PATCH_NOT_FOUND"
  | "PATCH_UNREADABLE"
  | "INVALID_YAML"
  | "INVALID_PATCH"
  | "INVALID_DYNAMIC"
  | "INVALID_PROFILE"
  | "UNKNOWN_PROFILE"
  | "UNKNOWN_BUNDLE"
  | "INVALID_BUNDLE"
  | "INVALID_PRESET"
  | "UNKNOWN_PRESET"
  | "PRESET_IO"
  // rows
  | "INVALID_ROW"
  | "UNKNOWN_ROW_KEY"
  | "DUPLICATE_ID"
  | "UNKNOWN_PLUGIN"
  | "PLUGIN_NOT_LOADED"
  | "NOT_A_PLUGIN"
  | "SECOND_COPY"
  // configuration
  | "INVALID_CONFIG"
  | "UNKNOWN_OPTION"
  // services
  | "MISSING_SERVICE"
  | "DUPLICATE_SERVICE"
  | "CYCLE"
  | "SERVICE_OUTSIDE_REALM"
  // start
  | "ROW_FAILED"

/** One thing that is wrong. */
export interface Problem {
  readonly code: Code
  readonly place: Place
  /** Id of the row. */
  readonly row?: string | undefined
  /** What is the case: a part of a sentence. */
  readonly reason: string
  /** What to do next: a part of a sentence. */
  readonly remedy: string
}

export const showProblem = ({ code, place, reason, remedy, row }: Problem): string => {
  // What a part says of its own failure comes first: it is about the world, not about the file.
  if (code === "ROW_FAILED") return `${reason} (row "${row}" of ${showPlace(place)}; ${remedy})`
  return `${showPlace(place)}: ${row === undefined ? "" : `row "${row}" `}${reason}; ${remedy}`
}

/** A composition that cannot start, or cannot change as it was asked to. */
export class CompositionError extends Data.TaggedError("CompositionError")<{
  readonly problems: readonly [Problem, ...ReadonlyArray<Problem>]
  readonly cause?: unknown
}> {
  /** That of the first problem; when a row failed, what it failed with. */
  get code(): string {
    const [{ code }] = this.problems
    return code === "ROW_FAILED" ? (codeOf(this.cause) ?? code) : code
  }
  override get message(): string {
    return this.problems.map(showProblem).join("\n")
  }
}

const codeOf = (cause: unknown): string | undefined =>
  typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string"
    ? cause.code
    : undefined

export const of = (problem: Problem, cause?: unknown): CompositionError =>
  new CompositionError({ problems: [problem], ...(cause !== undefined && { cause }) })

/** Nothing, or all of them in one error. */
export const ofAll = (problems: ReadonlyArray<Problem>): CompositionError | undefined => {
  const [first, ...others] = problems
  return first === undefined ? undefined : new CompositionError({ problems: [first, ...others] })
}
