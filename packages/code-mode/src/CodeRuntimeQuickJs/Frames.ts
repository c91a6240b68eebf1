/**
 * What comes out of a thread is taken for hostile: it is looked at once, and only what is exactly a frame is one.
 */
import type { Frame } from "@dsh/quickjs-thread"

/** Nothing for anything that is not a frame. */
export const decode = (message: unknown): Frame | undefined => {
  if (!Array.isArray(message)) return undefined
  const [kind, ...rest]: Array<unknown> = message
  switch (kind) {
    case "log":
      return rest.length === 1 && isText(rest[0]) ? ["log", rest[0]] : undefined
    case "call": {
      const [id, global, name, args, ...more] = rest
      return more.length === 0 && isCount(id) && isText(global) && isText(name) && isText(args)
        ? ["call", id, global, name, args]
        : undefined
    }
    case "done":
      return rest.length === 1 && (rest[0] === null || isText(rest[0])) ? ["done", rest[0]] : undefined
    case "failed": {
      const [why, text, ...more] = rest
      return more.length === 0 && isReason(why) && isText(text) ? ["failed", why, text] : undefined
    }
    default:
      return undefined
  }
}

const isText = (value: unknown): value is string => typeof value === "string"
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0
const isReason = (value: unknown) => value === "exception" || value === "invalid-output" || value === "output-limit"
