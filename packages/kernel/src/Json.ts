/**
 * What may enter the session log: plain JSON values, and only those that survive a round trip unchanged.
 *
 * `snapshot` is the single gate. It copies, so that a later mutation by the caller cannot change the log, and it refuses what
 * `JSON.stringify` would silently drop or coerce.
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as Text from "./Text.ts"

export type Json = string | number | boolean | null | ReadonlyArray<Json> | JsonObject

export interface JsonObject {
  readonly [key: string]: Json
}

/** A value that JSON would not give back unchanged. `path` is a JSON path like `$.items[2].when`. */
export class NotLosslessJson extends Data.TaggedError("NotLosslessJson")<{
  readonly path: string
  readonly reason: string
}> {
  readonly code = "NOT_LOSSLESS_JSON"
  override get message(): string {
    return `${this.path} ${this.reason}; pass plain JSON data (strings, finite numbers, booleans, null, arrays, plain objects)`
  }
}

type Container = Array<Json> | Record<string, Json>

interface Work {
  readonly source: object
  readonly target: Container
  readonly parent: Work | undefined
  readonly key: string | number
  /** Its members were read; what is above it on the stack are its descendants. */
  entered: boolean
}

/**
 * A frozen deep copy of `value`. Iterative: depth is bounded by memory, not by the stack. Each property is read exactly once.
 *
 * @param rewrite Makes another text of each text in it; keys stay as they are.
 */
export const snapshot = (value: unknown, rewrite = unchanged): Either.Either<Json, NotLosslessJson> => {
  try {
    return Either.right(copy(value, rewrite))
  } catch (error) {
    if (error instanceof NotLosslessJson) return Either.left(error)
    return Either.left(new NotLosslessJson({ path: "$", reason: "threw while being read" }))
  }
}

const unchanged = (text: string): string => text

const copy = (root: unknown, rewrite: typeof unchanged): Json => {
  const leaf = (value: unknown, work: Work | undefined, key: string | number): Json => {
    const found = scalar(value, work, key)
    return typeof found === "string" ? rewrite(found) : found
  }
  if (!isObject(root)) return leaf(root, undefined, "")
  const first = open(root, undefined, "")
  const stack: Array<Work> = [first]
  const opened: Array<Container> = []
  // The containers from the root to where we are: a cycle is one of them met again.
  const path = new Set<object>()
  for (let work = stack.at(-1); work !== undefined; work = stack.at(-1)) {
    if (work.entered) {
      stack.pop()
      path.delete(work.source)
      continue
    }
    work.entered = true
    path.add(work.source)
    opened.push(work.target)
    for (const key of ownKeys(work)) {
      const child: unknown = Reflect.get(work.source, key)
      if (isObject(child)) {
        if (path.has(child)) fail(work, key, "is a cycle")
        const next = open(child, work, key)
        put(work.target, key, next.target)
        stack.push(next)
      } else {
        put(work.target, key, leaf(child, work, key))
      }
    }
  }
  for (const container of opened) Object.freeze(container)
  return first.target
}

/** Of a path in a message, in UTF-16 units: nesting has no limit. */
const longest = 500

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

// defineProperty, because a literal `__proto__` key is data here and must not set the prototype.
const put = (target: Container, key: string | number, value: Json): void => {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  } else {
    Reflect.set(target, key, value)
  }
}

const open = (source: object, parent: Work | undefined, key: string | number): Work => {
  const prototype: object | null = Object.getPrototypeOf(source)
  if (Array.isArray(source)) {
    // `Array.prototype` is an array itself, in every realm; the prototype of a subclass is not.
    if (!Array.isArray(prototype)) fail(parent, key, "is a class instance")
    return { source, target: new Array<Json>(source.length), parent, key, entered: false }
  }
  // A cross-realm plain object has another Object.prototype, whose own prototype is null.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    fail(parent, key, "is a class instance")
  }
  if (prototype !== null && !Object.hasOwn(prototype, "hasOwnProperty")) fail(parent, key, "has a custom prototype")
  return { source, target: {}, parent, key, entered: false }
}

const ownKeys = (work: Work): ReadonlyArray<string | number> => {
  const names = Object.getOwnPropertyNames(work.source)
  if (Object.getOwnPropertySymbols(work.source).length > 0) fail(work.parent, work.key, "has symbol keys")
  if (Array.isArray(work.source)) {
    const length = work.source.length
    if (names.length !== length + 1) fail(work.parent, work.key, "is a sparse array or an array with extra properties")
    const indexes: Array<number> = []
    for (let i = 0; i < length; i++) {
      if (names[i] !== String(i)) fail(work.parent, work.key, "is a sparse array or an array with extra properties")
      indexes.push(i)
    }
    return indexes
  }
  for (const name of names) {
    if (!Object.prototype.propertyIsEnumerable.call(work.source, name)) fail(work, name, "is not enumerable")
  }
  return names
}

const scalar = (value: unknown, parent: Work | undefined, key: string | number): Json => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value
    case "number":
      if (!Number.isFinite(value)) return fail(parent, key, `is ${value}`)
      if (Object.is(value, -0)) return fail(parent, key, "is -0")
      return value
    default:
      return value === null ? null : fail(parent, key, value === undefined ? "is undefined" : `is a ${typeof value}`)
  }
}

const fail = (parent: Work | undefined, key: string | number, reason: string): never => {
  const segment = (k: string | number) => (typeof k === "number" ? `[${k}]` : k === "" ? "" : `.${k}`)
  let path = segment(key)
  for (let at = parent; at !== undefined; at = at.parent) path = segment(at.key) + path
  throw new NotLosslessJson({ path: path.length > longest ? `$…${Text.tail(path, longest)}` : `$${path}`, reason })
}

/** Structural equality of two JSON values, key order ignored. */
export const equals = (a: Json | undefined, b: Json | undefined): boolean => {
  if (a === b) return true
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, i) => equals(item, b[i]))
  }
  const left: JsonObject = a as JsonObject
  const right: JsonObject = b as JsonObject
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && equals(left[key], right[key]))
  )
}
