/**
 * What is known about a session apart from its log.
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import type { SessionId } from "./Ids.ts"

/** The log format this build writes. It changes only when header, envelope, core events or surface rules change meaning. */
export const formatVersion = 1

export interface SessionHeader {
  readonly version: number
  readonly id: SessionId
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** Absolute path of the workspace. */
  readonly cwd?: string
  readonly parentSession?: SessionId
  /** Number of inherited events. */
  readonly seedLength?: number
  readonly origin?: "subagent"
  readonly delegationDepth?: number
  readonly agentPreset?: string
}

export class InvalidHeader extends Data.TaggedError("InvalidHeader")<{ readonly reason: string }> {
  readonly code = "INVALID_SESSION_HEADER"
  override get message(): string {
    return `the session header is invalid: ${this.reason}`
  }
}

const count = (value: number): boolean => Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0)
const absolute = /^(?:\/|[A-Za-z]:[\\/]|\\\\)/

/** A frozen header of the current version, or the first thing that is wrong with `fields`. */
export const make = (fields: Omit<SessionHeader, "version">): Either.Either<SessionHeader, InvalidHeader> => {
  const refuse = (reason: string) => Either.left(new InvalidHeader({ reason }))
  if (fields.id === "") return refuse("the id is empty")
  if (!count(fields.createdAt)) return refuse("createdAt is not a whole number of milliseconds")
  if (fields.cwd !== undefined && !absolute.test(fields.cwd)) return refuse(`cwd ${fields.cwd} is not an absolute path`)
  if (fields.seedLength !== undefined && !count(fields.seedLength)) return refuse("seedLength is not a whole number")
  if (fields.delegationDepth !== undefined && !count(fields.delegationDepth)) {
    return refuse("delegationDepth is not a whole number")
  }
  return Either.right(Object.freeze({ ...fields, version: formatVersion }))
}
