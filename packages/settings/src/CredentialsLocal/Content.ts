/**
 * What is written in a file of credentials:
 *
 *   version: 1
 *   refs:
 *     DEEPSEEK_API_KEY: sk-…
 *   records:
 *     mcp/calendar: { kind: grant, payload: { … } }
 *
 * A file without a version is a map from references to values, as it was before there were versions. What is wrong is told by its place
 * and never in the words of the file.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { CredentialsError, isReference } from "../Credentials.ts"
import type { Record } from "../Credentials.ts"
import type { Change, Content } from "../Credentials/Store.ts"
import { read } from "../DocumentFile/Document.ts"
import type { Document } from "../DocumentFile/Document.ts"
import { isMap } from "../Settings/Merge.ts"
import type { Op, Path } from "../Settings.ts"

const invalid = (file: string, what: string, at?: { readonly line: number; readonly column: number }) =>
  new CredentialsError({
    code: "CREDENTIALS_INVALID",
    message: `${file}${at === undefined ? "" : `:${at.line}:${at.column}`}: ${what}; correct it, or take the file away and set the keys again`
  })

const open = (file: string, text: string): Either.Either<Document, CredentialsError> =>
  Either.mapLeft(read(text), ({ column, line }) => invalid(file, "is no YAML that can be used", { line, column }))

const isLegacy = ({ value }: Document): boolean => !("version" in value) && !("refs" in value) && !("records" in value)

/** The content, or the place of what does not belong there. */
export const parse = (file: string, text: string): Either.Either<Content, CredentialsError> =>
  Either.flatMap(open(file, text), (document) => {
    const misfit = (path: Path, what: string) => Either.left(invalid(file, what, document.placeOf(path)))
    const refs = new Map<string, string>()
    const records = new Map<string, Record>()
    const legacy = isLegacy(document)
    const { records: recordsGiven = {}, refs: refsGiven = {}, version, ...unknown } = document.value
    if (!legacy && version !== 1) {
      return misfit(["version"], "is of a version that this dsh does not know: it knows version 1")
    }
    const [extra] = legacy ? [] : Object.keys(unknown)
    if (extra !== undefined) return misfit([extra], "has a key that is none of version, refs and records")
    const [given, above]: [unknown, Path] = legacy ? [document.value, []] : [refsGiven ?? {}, ["refs"]]
    if (!isMap(given)) return misfit(above, "has refs that are no map")
    for (const [name, value] of Object.entries(given)) {
      if (!isReference(name)) return misfit([...above, name], "has a name that is no reference")
      if (typeof value !== "string" || value === "") return misfit([...above, name], "has a value that is no text")
      refs.set(name, value)
    }
    if (!isMap(recordsGiven ?? {})) return misfit(["records"], "has records that are no map")
    for (const [key, value] of Object.entries(recordsGiven ?? {})) {
      const record = recordOf(value)
      if (record === undefined || !/^[^/\s]+\/\S+$/.test(key)) {
        return misfit(["records", key], "has a record that does not fit")
      }
      records.set(key, record)
    }
    return Either.right({ refs, records })
  })

const recordOf = (value: unknown): Record | undefined => {
  if (!isMap(value)) return undefined
  const { env, key, kind, payload, ...unknown } = value
  if (Object.keys(unknown).length > 0) return undefined
  if (kind === "grant" && env === undefined && key === undefined && payload !== undefined) {
    return { kind, payload: Redacted.make(payload) }
  }
  if (kind !== "api-key" || payload !== undefined) return undefined
  const isText = (one: unknown): one is string => typeof one === "string" && one !== ""
  if (key !== undefined && !isText(key)) return undefined
  if (env === undefined) return { kind, ...(key !== undefined && { key: Redacted.make(key) }) }
  if (!isMap(env)) return undefined
  const entries = Object.entries(env)
  if (!entries.every(([name, text]) => isReference(name) && isText(text))) return undefined
  return {
    kind,
    ...(key !== undefined && { key: Redacted.make(key) }),
    env: Object.fromEntries(entries.map(([name, text]) => [name, Redacted.make(String(text))]))
  }
}

const written = (record: Record): unknown =>
  record.kind === "grant"
    ? { kind: record.kind, payload: Redacted.value(record.payload) }
    : {
        kind: record.kind,
        ...(record.key !== undefined && { key: Redacted.value(record.key) }),
        ...(record.env !== undefined && {
          env: Object.fromEntries(Object.entries(record.env).map(([name, text]) => [name, Redacted.value(text)]))
        })
      }

/** The text after a change: comments and order stay, and a file without a version gets one. */
export const edited = (file: string, text: string, change: Change): Effect.Effect<string, CredentialsError> =>
  Either.flatMap(open(file, text), (document) => {
    const path = [change.of, change.name]
    const op: Op =
      change.value === undefined
        ? { op: "unset", path }
        : { op: "set", path, value: change.of === "refs" ? change.value : written(change.value) }
    const ops = isLegacy(document) ? [...migration(document), op] : [op]
    return Either.mapLeft(document.edited(ops, false), () => invalid(file, "cannot be edited"))
  })

const migration = ({ value }: Document): ReadonlyArray<Op> => [
  { op: "set", path: ["version"], value: 1 },
  ...Object.entries(value).map(([name, text]): Op => ({ op: "set", path: ["refs", name], value: text })),
  ...Object.keys(value).map((name): Op => ({ op: "unset", path: [name] }))
]
