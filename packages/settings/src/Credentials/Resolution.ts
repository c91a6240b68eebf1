/**
 * Credentials over a store and what is beside it: the environment, which wins, and the `.env` files, which lose.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { Credentials, CredentialsError, checkReference, usable } from "../Credentials.ts"
import type { Source } from "../Credentials.ts"
import * as Pulse from "../Pulse.ts"
import * as Changes from "./Changes.ts"
import type { Store } from "./Store.ts"

export interface Options {
  readonly store: Store
  /** The environment of the process, as it is when it is asked. */
  readonly env: (name: string) => Effect.Effect<string | undefined>
  readonly projectEnv?: ReadonlyMap<string, string>
  readonly userEnv?: ReadonlyMap<string, string>
}

const none: ReadonlyMap<string, string> = new Map()

/** What is empty is not set. */
const present = (value: string | undefined): value is string => value !== undefined && value.trim() !== ""

export const make = ({ env, projectEnv = none, store, userEnv = none }: Options): Effect.Effect<Credentials["Type"]> =>
  Effect.sync(() => {
    const { source, touch: told } = Pulse.own()

    const resolve = (ref: string) =>
      Effect.gen(function* () {
        yield* checkReference(ref)
        const found = (source: Source, value: string) => Option.some({ source, value: Redacted.make(value) })
        const ambient = yield* env(ref)
        if (present(ambient)) return found("env", ambient)
        const kept = (yield* store.read).refs.get(ref)
        if (present(kept)) return found("file", kept)
        const project = projectEnv.get(ref)
        if (present(project)) return found("project-env", project)
        const user = userEnv.get(ref)
        return present(user) ? found("user-env", user) : Option.none()
      })

    /** A change that would have no effect looks like one that has. */
    const unshadowed = (ref: string) =>
      Effect.gen(function* () {
        yield* checkReference(ref)
        if (!present(yield* env(ref))) return
        return yield* new CredentialsError({
          code: "CREDENTIAL_SHADOWED",
          message: `${ref} is set in the environment, which wins; unset it there first`
        })
      })

    const record = (key: string) =>
      /^[^/\s]+\/\S+$/.test(key)
        ? Effect.void
        : new CredentialsError({
            code: "INVALID_REFERENCE",
            message: "a record is called scope/id, as in mcp/calendar"
          })

    return Credentials.of({
      resolve,
      describe: (ref) =>
        Effect.gen(function* () {
          const found = yield* resolve(ref)
          const source = Option.getOrUndefined(Option.map(found, ({ source }) => source))
          return {
            configured: source !== undefined,
            ...(source !== undefined && { source }),
            writable: source !== "env"
          }
        }),
      list: Effect.map(store.read, ({ refs }) => Array.from(refs.keys()).sort()),
      set: (ref, value) =>
        Effect.gen(function* () {
          yield* unshadowed(ref)
          const key = Redacted.value(yield* usable(ref, value))
          yield* store.change(() =>
            Effect.succeed({ change: { of: "refs" as const, name: ref, value: key }, value: undefined })
          )
          yield* told
        }),
      unset: (ref) =>
        Effect.gen(function* () {
          yield* unshadowed(ref)
          const was = yield* store.change(({ refs }) =>
            Effect.succeed({
              change: refs.has(ref) ? { of: "refs" as const, name: ref, value: undefined } : undefined,
              value: refs.has(ref)
            })
          )
          yield* told
          return was
        }),
      readRecord: (key) =>
        Effect.zipRight(
          record(key),
          Effect.map(store.read, ({ records }) => Option.fromNullable(records.get(key)))
        ),
      listRecords: Effect.map(store.read, ({ records }) => Array.from(records, ([key, { kind }]) => ({ key, kind }))),
      modifyRecord: (key, change) =>
        Effect.zipRight(
          record(key),
          store.change(({ records }) =>
            Effect.map(change(Option.fromNullable(records.get(key))), (next) => ({
              change: { of: "records" as const, name: key, value: Option.getOrUndefined(next) },
              value: next
            }))
          )
        ),
      deleteRecord: (key) =>
        Effect.zipRight(
          record(key),
          store.change(({ records }) =>
            Effect.succeed({
              change: records.has(key) ? { of: "records" as const, name: key, value: undefined } : undefined,
              value: records.has(key)
            })
          )
        ),
      changes: Pulse.stream([source, store.touched], Changes.begin(store))
    })
  })
