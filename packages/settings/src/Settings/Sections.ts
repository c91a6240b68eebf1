/**
 * The sections of a document, whatever keeps it.
 */
import * as Registry from "@dsh/kernel/Registry"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { Settings, SettingsError, decode, show } from "../Settings.ts"
import type { Handle, Op, Path, Registration, WriteOptions } from "../Settings.ts"
import * as Pulse from "../Pulse.ts"
import * as Merge from "./Merge.ts"
import * as Updates from "./Updates.ts"
import * as SectionView from "./SectionView.ts"

type Values = Readonly<Record<string, unknown>>

export interface Snapshot {
  /** What messages call the document. */
  readonly file: string
  /** Where a value stands, as far as that is known. */
  readonly placeOf: (path: Path) => { readonly line?: number; readonly column?: number }
  readonly values: Values
  /** Is another one when the document is. */
  readonly stamp: string
}

/** What keeps a document. */
export interface Backing {
  readonly get: Settings["Type"]["get"]
  readonly read: Effect.Effect<Snapshot, SettingsError>
  /** Nobody else changes the document between what `change` is told and what it asks for. */
  readonly write: (
    change: (snapshot: Pick<Snapshot, "file" | "values">) => Either.Either<ReadonlyArray<Op>, SettingsError>
  ) => Effect.Effect<void, SettingsError>
  /** Each time somebody else may have changed it. */
  readonly touched: Pulse.Source
}

/** Of what a user wrote in a section. */
export const revisionOf = (user: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(user) ?? "")
    .digest("hex")
    .slice(0, 16)

const own = (values: Values, name: string): unknown => (Object.hasOwn(values, name) ? values[name] : undefined)

/** The value that the three layers make. */
const valueOf = <A, I>(
  { base, name, schema }: Registration<A, I>,
  { file, placeOf, values }: Pick<Snapshot, "file" | "values"> & Partial<Pick<Snapshot, "placeOf">>
): Either.Either<A, SettingsError> => {
  const merged = Merge.merge(base, own(values, name)) ?? {}
  return Either.mapLeft(
    decode({ path: [name], schema }, merged),
    ({ path, reason }) =>
      new SettingsError({ code: "SETTINGS_INVALID", file, ...placeOf?.(path), path: show(path), reason })
  )
}

export const make = (backing: Backing): Effect.Effect<Settings["Type"]> =>
  Effect.gen(function* () {
    const registry = Registry.make<Registration<unknown, unknown>>("the sections of the settings")
    const written = Pulse.own()
    const turn = yield* Effect.makeSemaphore(1)
    const begin = Updates.begin({
      read: backing.read,
      names: () => registry.entries().map(([name]) => name),
      revisionIn: ({ values }, name) => revisionOf(own(values, name))
    })
    const sources = [written.source, backing.touched]

    const find = (name: string) =>
      Effect.suspend(() => {
        const found = registry.get(name)
        if (Option.isSome(found)) return Effect.succeed(found.value)
        const known = registry.entries().map(([other]) => other)
        const reason = `is no section that is known here; ${known.length === 0 ? "none is" : `known: ${known.join(", ")}`}`
        return new SettingsError({ code: "SETTINGS_UNKNOWN_SECTION", file: "settings", path: name, reason })
      })

    const register = <A, I>(registration: Registration<A, I>) =>
      Effect.gen(function* () {
        const { applies = "live", name } = registration
        const first = yield* Effect.flatMap(backing.read, (snapshot) => valueOf(registration, snapshot))
        yield* Effect.mapError(
          // What it decodes to is the business of whoever registers it.
          registry.register(name, registration as Registration<unknown, unknown>),
          ({ message }) =>
            new SettingsError({ code: "SETTINGS_DUPLICATE_SECTION", file: "settings", path: name, reason: message })
        )
        if (applies === "restart") return { current: Effect.succeed(first), changes: Stream.empty } satisfies Handle<A>
        let good = first
        let told: string | undefined
        const current = Effect.matchEffect(
          Effect.flatMap(backing.read, (snapshot) => valueOf(registration, snapshot)),
          {
            onSuccess: (value) =>
              Effect.sync(() => {
                told = undefined
                return (good = value)
              }),
            onFailure: ({ message }) =>
              Effect.suspend(() => {
                const isNews = told !== message
                told = message
                const log = Effect.logWarning(`${message}; what was set before stays in force`)
                return Effect.as(isNews ? log : Effect.void, good)
              })
          }
        )
        return {
          current,
          changes: Pulse.stream(
            sources,
            Effect.map(begin, (look) =>
              Effect.flatMap(look, (updates) =>
                updates.some((update) => update._tag === "Section" && update.name === name)
                  ? Effect.map(current, (value): ReadonlyArray<A> => [value])
                  : Effect.succeed([])
              )
            )
          )
        } satisfies Handle<A>
      })

    const viewIn = (snapshot: Snapshot, registration: Registration<unknown, unknown>) =>
      Either.map(valueOf(registration, snapshot), (value) => {
        const user = own(snapshot.values, registration.name)
        return SectionView.make(registration, { user, value, revision: revisionOf(user) })
      })

    const view = (name: string) =>
      Effect.flatMap(find(name), (registration) =>
        Effect.flatMap(backing.read, (snapshot) => viewIn(snapshot, registration))
      )

    const write = (name: string, { expectedRevision }: WriteOptions = {}, change: (user: unknown) => Iterable<Op>) =>
      Effect.gen(function* () {
        const registration = yield* find(name)
        yield* backing.write(({ file, values }) => {
          const user = own(values, name)
          const actual = revisionOf(user)
          if (expectedRevision !== undefined && expectedRevision !== actual) {
            const reason = `was changed meanwhile: it is at revision ${actual}, not ${expectedRevision}; read it and try again`
            return Either.left(
              new SettingsError({
                code: "SETTINGS_CONFLICT",
                file,
                path: name,
                reason,
                expected: expectedRevision,
                actual
              })
            )
          }
          const ops = Array.from(change(user))
          const section = Merge.applied(user, ops)
          // What changes nothing does not touch how it is written either.
          if (revisionOf(section) === actual) return Either.right([])
          return Either.map(valueOf(registration, { file, values: { ...values, [name]: section } }), () =>
            ops.map((op): Op => ({ ...op, path: [name, ...op.path] }))
          )
        })
        yield* written.touch
        return yield* view(name)
      }).pipe(turn.withPermits(1))

    return Settings.of({
      get: backing.get,
      register,
      describe: Effect.flatMap(backing.read, (snapshot) =>
        Effect.forEach(registry.entries(), ([, registration]) => viewIn(snapshot, registration))
      ),
      view,
      update: (name, patch, options) => write(name, options, (user) => Merge.patching(user, patch)),
      replace: (name, section, options) => write(name, options, (user) => Merge.difference(user, section)),
      mutate: (name, ops, options) => write(name, options, () => ops),
      updates: Pulse.stream(sources, begin)
    })
  })
