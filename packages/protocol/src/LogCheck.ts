/**
 * What a reader of a log refuses before it believes a line: structure, checked by hand.
 *
 * `Schemas` says the same in Effect Schema and is where the format is documented. Loading a log of a hundred thousand events goes
 * through here instead, for a Schema costs more per event than parsing it. The tests hold the two together.
 *
 * It asks for what a reader needs not to trip: the JSON type of every member, discriminators and ids that are not empty. It does not
 * ask whether a number makes sense, for a provider that reports nonsense must not cost anybody a session. Whether a value is lossless
 * JSON is not its question either, and rules that span several events (order, surface, enclosure) belong to those who fold the log.
 */
import { ofType } from "./LogCheck/EventData.ts"
import { count, isCount, isFields, list, name, optional } from "./LogCheck/Fields.ts"
import type { Fields, Problem } from "./LogCheck/Fields.ts"
import * as Header from "./SessionHeader.ts"
import type { SessionHeader } from "./SessionHeader.ts"
import { SessionId } from "./Ids.ts"
import * as Either from "effect/Either"

const envelopeKeys = new Set(["type", "seq", "time", "data", "surfaceOp", "sourceEventSeqs", "ignorable"])

const seqRange = (value: unknown): Problem =>
  isCount(value) || (Array.isArray(value) && value.length === 2 && isCount(value[0]) && isCount(value[1]))
    ? undefined
    : "is neither a seq nor a pair of seqs"

const surfaceOp = (fields: Fields, key: string): Problem => {
  const op = fields[key]
  if (op === "append") return undefined
  if (!isFields(op) || op["op"] !== "replace") return `${key} is neither "append" nor a replacement`
  if (Object.keys(op).length !== 3) return `${key} has other members than op, start and end`
  return count(op, "start") ?? count(op, "end")
}

/**
 * What keeps `value` from being a `SessionEvent`; nothing when it is one. An event of a type that is not core is asked for its
 * envelope only.
 */
export const problemOf = (value: unknown): string | undefined => {
  if (!isFields(value)) return "it is not an object"
  for (const key in value) if (!envelopeKeys.has(key)) return `an event has no member "${key}"`
  const problem =
    name(value, "type") ??
    count(value, "seq") ??
    (Number.isSafeInteger(value["time"]) ? undefined : "time is not a whole number of milliseconds") ??
    optional(value, "surfaceOp", surfaceOp) ??
    optional(value, "sourceEventSeqs", (fields, key) => list(fields, key, seqRange)) ??
    (value["ignorable"] === undefined || value["ignorable"] === true ? undefined : "ignorable is not true")
  if (problem !== undefined) return problem
  const data = value["data"]
  if (data === undefined) return "it has no data"
  const check = ofType(value["type"] as string)
  if (check === undefined) return undefined
  if (!isFields(data)) return `data of ${value["type"]} is not an object`
  const inner = check(data)
  return inner === undefined ? undefined : `data of ${value["type"]}: ${inner}`
}

const optionalName = (fields: Fields, key: string): Problem => optional(fields, key, name)

/**
 * The members of a stored header, or what is wrong with it. The version is the caller's: it decides whether anything else of the
 * header may be looked at.
 */
export const header = (value: Fields): Either.Either<SessionHeader, string> => {
  const { agentPreset, createdAt, cwd, delegationDepth, id, origin, parentSession, seedLength } = value
  const problem =
    name(value, "id") ??
    count(value, "createdAt") ??
    optionalName(value, "cwd") ??
    optionalName(value, "parentSession") ??
    optional(value, "seedLength", count) ??
    (origin === undefined || origin === "subagent" ? undefined : "origin is not subagent") ??
    count(value, "delegationDepth") ??
    optionalName(value, "agentPreset")
  if (problem !== undefined) return Either.left(problem)
  const made = Header.make({
    id: SessionId(id as string),
    createdAt: createdAt as number,
    ...(cwd !== undefined && { cwd: cwd as string }),
    ...(parentSession !== undefined && { parentSession: SessionId(parentSession as string) }),
    ...(seedLength !== undefined && { seedLength: seedLength as number }),
    ...(origin !== undefined && { origin: "subagent" as const }),
    delegationDepth: delegationDepth as number,
    ...(agentPreset !== undefined && { agentPreset: agentPreset as string })
  })
  return Either.mapLeft(made, ({ reason }) => reason)
}
