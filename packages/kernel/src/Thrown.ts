/**
 * What went wrong, read from values that may be anything. Getters, proxies and `toString` of a foreign value can throw again; the code
 * that reports a failure must not fail because of it.
 */
import * as Cause from "effect/Cause"
import * as Text from "./Text.ts"

const longest = 4096

/** The message of something that was thrown, at most 4096 units; nothing when it has none to give. Total. */
export const messageOf = (thrown: unknown): string | undefined => {
  try {
    const message = typeof thrown === "object" && thrown !== null ? Reflect.get(thrown, "message") : undefined
    if (typeof message === "string" && message !== "") return Text.ellipsis(message, longest)
    if (thrown === undefined || thrown === null) return undefined
    const shown = String(thrown)
    return shown === "" || shown === "[object Object]" ? undefined : Text.ellipsis(shown, longest)
  } catch {
    return undefined
  }
}

/** A cause as text for a log, with stacks where there are any. Total, unlike `Cause.pretty`. */
export const pretty = (cause: Cause.Cause<unknown>): string => {
  try {
    return Cause.pretty(cause)
  } catch {
    return messageOf(Cause.squash(cause)) ?? "a value that cannot be shown was thrown"
  }
}
