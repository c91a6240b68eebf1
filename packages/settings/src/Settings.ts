/**
 * What a user has set for all of their sessions: one document of sections, each of which belongs to whoever knows its schema.
 *
 * A value is made of three layers: the defaults of the schema, what the composition gives (`base`), and what the user wrote, which wins.
 */
import * as Nearest from "@dsh/kernel/Nearest"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"

/** A part of the document, by its name at the top level. */
export interface Section<A, I = A> {
  readonly name: string
  readonly schema: Schema.Schema<A, I>
}

export type Path = ReadonlyArray<PropertyKey>

/** A change of the document. What is missing on the way to a value is made: a map for a name, a list for a number. */
export type Op =
  | { readonly op: "set"; readonly path: Path; readonly value: unknown }
  | { readonly op: "unset"; readonly path: Path }

/** When a change counts: at once, or for the next process. */
export type Applies = "live" | "restart"

export interface Registration<A, I = A> extends Section<A, I> {
  /** What the composition gives, as it would be written in the document. What the user wrote is merged over it. */
  readonly base?: unknown
  /** Default `live`. */
  readonly applies?: Applies
}

/** A section as its owner sees it. */
export interface Handle<A> {
  /** The value in force. Where the document has come to say what does not fit, the last one that did; that is logged once. */
  readonly current: Effect.Effect<A>
  /** The value after each change, whoever made it. The document is watched while this runs. Never anything for `restart`. */
  readonly changes: Stream.Stream<A>
}

/** A section as everybody else may see it: encoded, and without its secrets. */
export interface View {
  readonly name: string
  readonly schema: Schema.Schema.AnyNoContext
  /** All three layers together. */
  readonly value: unknown
  readonly base?: unknown
  readonly user?: unknown
  readonly applies: Applies
  /** The fields that are left out everywhere above. */
  readonly secrets: ReadonlyArray<{ readonly path: Path; readonly set: boolean }>
  /** Of what the user wrote. It is the same when that is the same. */
  readonly revision: string
}

export interface WriteOptions {
  /** The write fails with `SETTINGS_CONFLICT` when the section is at another one. */
  readonly expectedRevision?: string
}

/** Something happened to the document: a section says something else, the text is another one, or it cannot be used. */
export type Update =
  | { readonly _tag: "Section"; readonly name: string }
  | { readonly _tag: "Document" }
  | { readonly _tag: "Fault"; readonly error: SettingsError }

/** What settings are called in their folder; the first that is there counts. */
export const fileNames = ["settings.yaml", "settings.yml", "settings.json"]

/** Settings that cannot be used. Lines and columns count from 1. */
export class SettingsError extends Data.TaggedError("SettingsError")<{
  readonly code:
    | "SETTINGS_UNREADABLE"
    | "SETTINGS_INVALID"
    | "SETTINGS_UNWRITABLE"
    | "SETTINGS_LOCKED"
    | "SETTINGS_CONFLICT"
    | "SETTINGS_UNKNOWN_SECTION"
    | "SETTINGS_DUPLICATE_SECTION"
  readonly file: string
  readonly line?: number
  readonly column?: number
  /** Where in the document: `prices.scripted/m.input`. */
  readonly path?: string
  readonly reason: string
  /** The revisions of a conflict. */
  readonly expected?: string
  readonly actual?: string
}> {
  override get message(): string {
    const { column, file, line, path, reason } = this
    const place = line === undefined ? "" : `:${line}${column === undefined ? "" : `:${column}`}`
    return `${file}${place}: ${path === undefined ? "" : `${path} `}${reason}`
  }
}

type Written = Effect.Effect<View, SettingsError>

export class Settings extends Context.Tag("@dsh/settings/Settings")<
  Settings,
  {
    /** What the user has set, now; nothing when it is not. Fails with `SETTINGS_UNREADABLE` or `SETTINGS_INVALID`. */
    readonly get: <A, I>(section: Section<A, I>) => Effect.Effect<Option.Option<A>, SettingsError>
    /**
     * Claims a section while the current Scope is open. Fails with `SETTINGS_INVALID` when what is in the document does not fit, and with
     * `SETTINGS_DUPLICATE_SECTION` when somebody has it.
     */
    readonly register: <A, I>(registration: Registration<A, I>) => Effect.Effect<Handle<A>, SettingsError, Scope.Scope>
    /** The sections that are registered. */
    readonly describe: Effect.Effect<ReadonlyArray<View>, SettingsError>
    /** This and the writes fail with `SETTINGS_UNKNOWN_SECTION` for one that nobody registered; it is left alone. */
    readonly view: (name: string) => Effect.Effect<View, SettingsError>
    /**
     * Merges into what the user wrote, map by map; anything else is replaced. Like every write it changes nothing when it fails, and it
     * fails with `SETTINGS_INVALID` when the outcome would not fit.
     */
    readonly update: (name: string, patch: unknown, options?: WriteOptions) => Written
    /** Puts a section in the place of what the user wrote. */
    readonly replace: (name: string, section: unknown, options?: WriteOptions) => Written
    /** Paths begin below the section. */
    readonly mutate: (name: string, ops: ReadonlyArray<Op>, options?: WriteOptions) => Written
    /** From the moment it runs. The document is watched as long as it does. */
    readonly updates: Stream.Stream<Update>
  }
>() {}

/** What does not fit, and where. */
export interface Misfit {
  readonly path: Path
  readonly reason: string
}

/** The value at a path as its owner sees it. The first thing that does not fit is told; an unknown key is one. */
export const decode = <A, I>(
  { path, schema }: { readonly path: Path; readonly schema: Schema.Schema<A, I> },
  value: unknown
): Either.Either<A, Misfit> =>
  Either.mapLeft(Schema.decodeUnknownEither(schema, { onExcessProperty: "error" })(value), (error) => {
    const issues = ParseResult.ArrayFormatter.formatErrorSync(error)
    // Of the alternatives of a union, the one that got furthest is the one that was meant.
    const [first] = [...issues].sort((a, b) => b.path.length - a.path.length)
    if (first === undefined) return { path, reason: error.message }
    const reason = first._tag === "Unexpected" ? unexpected(String(first.path.at(-1)), first.message) : first.message
    return { path: [...path, ...first.path], reason }
  })

/** @param told As the formatter has it: `is unexpected, expected: "a" | "b"`. */
const unexpected = (key: string, told: string): string => {
  const meant = Nearest.find(
    key,
    Array.from(told.matchAll(/"([^"]*)"/g), ([, name = ""]) => name)
  )
  return meant === undefined ? told : `${told}; did you mean "${meant}"?`
}

/** `prices.scripted/m[0].input` */
export const show = (path: Path): string =>
  path.reduce<string>(
    (out, key) => (typeof key === "number" ? `${out}[${key}]` : `${out}${out === "" ? "" : "."}${String(key)}`),
    ""
  )
