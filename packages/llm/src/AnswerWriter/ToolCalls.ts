/**
 * Which tool call a delta belongs to.
 *
 * The wire format says: by `index`, and the first delta carries `id` and `name`. Providers leave out either, repeat both, number all
 * calls zero, or send whole calls at once. Routing is by id, then by index, then to the last call.
 */
import { CallId } from "@dsh/protocol/Ids"
import { identifier, isRecord, record, text } from "../Lenient.ts"
import type { Raw } from "../Lenient.ts"

export interface Call {
  /** Position of its block in the message. */
  readonly block: number
  /** Unique in the session; fixed when the call is first seen. */
  readonly id: CallId
  name: string
  arguments: string
  /** What the provider calls it, once it said so. */
  wireId: string | undefined
  wireIndex: number | undefined
}

export interface Options {
  /** Ids that the session already uses. */
  readonly isTaken: (id: string) => boolean
  /** A new unique id. */
  readonly mint: () => string
  /** The index of the next block. */
  readonly nextBlock: () => number
}

/** A delta, read: the call it belongs to and what it adds. */
export interface Routed {
  readonly call: Call
  readonly isNew: boolean
  readonly name: string | undefined
  readonly fragment: string
}

export interface Router {
  /** Nothing when the delta neither opens a call nor adds to one. */
  readonly route: (delta: unknown) => Routed | undefined
}

interface Fields {
  readonly wireId: string | undefined
  readonly wireIndex: number | undefined
  readonly name: string | undefined
  readonly fragment: string
}

export const make = (options: Options): Router => {
  const calls: Array<Call> = []

  const open = (wireId: string | undefined, wireIndex: number | undefined): Call => {
    const usable = wireId !== undefined && !options.isTaken(wireId) && calls.every((call) => call.id !== wireId)
    const id = CallId(usable ? wireId : `call_${options.mint()}`)
    const call = { block: options.nextBlock(), id, name: "", arguments: "", wireId, wireIndex }
    calls.push(call)
    return call
  }

  const byIndex = (wireIndex: number) => calls.findLast((call) => call.wireIndex === wireIndex)

  const find = ({ fragment, name, wireId, wireIndex }: Fields): Call | undefined => {
    const indexed = wireIndex === undefined ? undefined : byIndex(wireIndex)
    if (wireId !== undefined) {
      const known = calls.findLast((call) => call.wireId === wireId)
      if (known !== undefined || indexed === undefined) return known
      // A new id opens a call, unless the call at this very index still waits for its id, or nothing but the id changed.
      const continues = indexed.wireId === undefined ? !startsAnother(indexed, name, fragment) : name === undefined
      return continues ? indexed : undefined
    }
    const last = calls.at(-1)
    const candidate = indexed ?? (wireIndex === undefined || last?.wireIndex === undefined ? last : undefined)
    return candidate === undefined || startsAnother(candidate, name, fragment) ? undefined : candidate
  }

  return {
    route: (delta) => {
      if (!isRecord(delta)) return undefined
      const fields = read(delta)
      const { fragment, name, wireId, wireIndex } = fields
      const known = find(fields)
      if (known === undefined && wireId === undefined && name === undefined && fragment === "") return undefined
      const call = known ?? open(wireId, wireIndex)
      if (name !== undefined) call.name = name
      call.wireId ??= wireId
      call.wireIndex ??= wireIndex
      call.arguments += fragment
      return { call, isNew: known === undefined, name, fragment }
    }
  }
}

const read = (delta: Raw): Fields => {
  const fn = record(delta.function)
  return {
    wireId: identifier(delta.id),
    wireIndex: indexOf(delta),
    name: text(fn.name),
    fragment: fragmentOf(fn.arguments)
  }
}

// A name on a call that is already whole can only be the next call of a provider that tells its calls apart by nothing else; one
// that repeats the name says nothing new and adds nothing.
const startsAnother = (call: Call, name: string | undefined, fragment: string): boolean =>
  name !== undefined && call.name !== "" && (name !== call.name || fragment !== "") && isWhole(call.arguments)

const isWhole = (json: string): boolean => {
  if (!json.trimEnd().endsWith("}")) return false
  try {
    JSON.parse(json)
    return true
  } catch {
    return false
  }
}

const indexOf = (delta: Raw): number | undefined => {
  const index = typeof delta.index === "string" ? Number.parseInt(delta.index, 10) : delta.index
  return typeof index === "number" && Number.isInteger(index) ? index : undefined
}

const fragmentOf = (value: unknown): string =>
  typeof value === "string" ? value : isRecord(value) ? JSON.stringify(value) : ""
