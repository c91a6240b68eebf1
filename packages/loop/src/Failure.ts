/**
 * From whatever went wrong to the plain failure that the log keeps.
 */
import type { LlmFailure } from "@dsh/protocol/StreamChunk"
import * as Text from "@dsh/kernel/Text"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Either from "effect/Either"

/** A model request failed for good: the recovery hook did not ask for another attempt. */
export class RequestFailed extends Data.TaggedError("RequestFailed")<{ readonly failure: LlmFailure }> {
  override get message(): string {
    return this.failure.message
  }
}

const longest = 4096

/** The failure of a turn that ended with `cause`. Total: a hostile error gets a fallback text. */
export const ofCause = (cause: Cause.Cause<unknown>): LlmFailure =>
  Either.match(Cause.failureOrCause(cause), {
    onLeft: (error) => ofError(error),
    onRight: (defects) =>
      Cause.isInterruptedOnly(defects)
        ? { code: "UNKNOWN", message: "the turn was interrupted from inside; this is a bug of a hook or an adapter" }
        : ofError(Cause.squash(defects))
  })

const ofError = (error: unknown): LlmFailure => {
  if (error instanceof RequestFailed) return error.failure
  const code = read(error, "code")
  return { code: code !== undefined && /^[A-Z][A-Z0-9_]*$/.test(code) ? code : "UNKNOWN", message: chain(error) }
}

const read = (value: unknown, key: "code" | "message" | "cause"): string | undefined => {
  const found = property(value, key)
  return typeof found === "string" && found !== "" ? found : undefined
}

const property = (value: unknown, key: string): unknown => {
  try {
    return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined
  } catch {
    return undefined
  }
}

/** The messages of an error and its causes, joined; repeats skipped, cycles ended. */
const chain = (error: unknown): string => {
  const seen = new Set<unknown>()
  const parts: Array<string> = []
  for (let at = error; at !== undefined && at !== null && !seen.has(at); at = property(at, "cause")) {
    seen.add(at)
    const part = read(at, "message") ?? (typeof at === "string" ? at : undefined)
    if (part !== undefined && !parts.some((known) => known.includes(part))) parts.push(part)
  }
  return parts.length === 0 ? "something failed without saying why" : Text.ellipsis(parts.join(": "), longest)
}
