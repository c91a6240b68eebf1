/**
 * What a user has set for all of their sessions: one document of sections, each of which belongs to whoever knows its schema.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"

/** A part of the document, by its name at the top level. */
export interface Section<A, I = A> {
  readonly name: string
  readonly schema: Schema.Schema<A, I>
}

/** What settings are called in their folder; the first that is there counts. */
export const fileNames = ["settings.yaml", "settings.yml", "settings.json"]

/** Settings that cannot be used. Lines and columns count from 1. */
export class SettingsError extends Data.TaggedError("SettingsError")<{
  readonly code: "SETTINGS_UNREADABLE" | "SETTINGS_INVALID" | "SETTINGS_UNWRITABLE" | "SETTINGS_LOCKED"
  readonly file: string
  readonly line?: number
  readonly column?: number
  /** Where in the document: `prices.scripted/m.input`. */
  readonly path?: string
  readonly reason: string
}> {
  override get message(): string {
    const { column, file, line, path, reason } = this
    const place = line === undefined ? "" : `:${line}${column === undefined ? "" : `:${column}`}`
    return `${file}${place}: ${path === undefined ? "" : `${path} `}${reason}`
  }
}

export class Settings extends Context.Tag("@dsh/settings/Settings")<
  Settings,
  {
    /** As it is set now; nothing when it is not. Fails with `SETTINGS_UNREADABLE` or `SETTINGS_INVALID`. */
    readonly get: <A, I>(section: Section<A, I>) => Effect.Effect<Option.Option<A>, SettingsError>
  }
>() {}

export type Path = ReadonlyArray<PropertyKey>

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
    return { path: [...path, ...(first?.path ?? [])], reason: first?.message ?? error.message }
  })

/** `prices.scripted/m[0].input` */
export const show = (path: Path): string =>
  path.reduce<string>(
    (out, key) => (typeof key === "number" ? `${out}[${key}]` : `${out}${out === "" ? "" : "."}${String(key)}`),
    ""
  )

/** Settings that are given, for tests and for programs that keep their own. */
export const layerMemory = (sections: Readonly<Record<string, unknown>>): Layer.Layer<Settings> =>
  Layer.succeed(Settings, {
    get: (section) =>
      section.name in sections
        ? Either.match(decode({ path: [section.name], schema: section.schema }, sections[section.name]), {
            onLeft: ({ path, reason }) =>
              Effect.fail(
                new SettingsError({ code: "SETTINGS_INVALID", file: "the given settings", path: show(path), reason })
              ),
            onRight: (value) => Effect.succeedSome(value)
          })
        : Effect.succeedNone
  })
