/**
 * Where the command line takes keys from: the environment, what `dsh credentials` keeps, and `.env` files, in this order.
 */
import type * as Credentials from "@dsh/settings/Credentials"
import type { EnvFiles } from "@dsh/settings/EnvFiles"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as Failure from "./Failure.ts"
import * as HomeFolder from "./HomeFolder.ts"
import { read } from "./Variables.ts"

/** The references of what can be used here. */
export const references: ReadonlyArray<string> = ["DEEPSEEK_API_KEY", "EXA_API_KEY", "PERPLEXITY_API_KEY"]

type Service = Credentials.Credentials["Type"]

export interface Keys {
  readonly credentials: Service
  /** The values that somebody was given so far, and those that lie about in `.env` files: none of them belongs into a result. */
  readonly known: () => Iterable<string>
}

/** Fails with exit code 3 when a `.env` file is no such file, or sets what none may set. */
export const load: Effect.Effect<Keys, Failure.Failure> = Effect.gen(function* () {
  const folder = yield* HomeFolder.home
  const files = yield* envFiles(folder)
  const config = yield* Effect.configProviderWith(Effect.succeed)
  const local = yield* Effect.cached(
    Effect.flatMap(
      Effect.promise(() => import("./Keys/Local.ts")),
      ({ make }) => Effect.withConfigProvider(make({ folder, ...files }), config)
    )
  )
  const known = new Set(
    references.flatMap((ref) => [files?.projectEnv.get(ref) ?? [], files?.userEnv.get(ref) ?? []].flat())
  )
  const remember = (found: Option.Option<Credentials.Resolved>) =>
    Effect.sync(() => {
      if (Option.isSome(found)) known.add(Redacted.value(found.value.value).trim())
    })
  // What the environment has wins, so nothing else is looked at.
  const resolve: Service["resolve"] = (ref) =>
    Effect.flatMap(Effect.withConfigProvider(read(ref), config), (value) =>
      value === undefined
        ? Effect.flatMap(local, (credentials) => credentials.resolve(ref))
        : Effect.succeedSome({ source: "env" as const, value: Redacted.make(value) })
    )
  return { credentials: lazily(local, (ref) => Effect.tap(resolve(ref), remember)), known: () => known }
})

/** Credentials that are loaded when there is something to do with them. */
const lazily = (local: Effect.Effect<Service>, resolve: Service["resolve"]): Service => ({
  resolve,
  describe: (ref) => Effect.flatMap(local, ({ describe }) => describe(ref)),
  list: Effect.flatMap(local, ({ list }) => list),
  set: (ref, value) => Effect.flatMap(local, ({ set }) => set(ref, value)),
  unset: (ref) => Effect.flatMap(local, ({ unset }) => unset(ref)),
  readRecord: (key) => Effect.flatMap(local, ({ readRecord }) => readRecord(key)),
  listRecords: Effect.flatMap(local, ({ listRecords }) => listRecords),
  modifyRecord: (key, change) => Effect.flatMap(local, ({ modifyRecord }) => modifyRecord(key, change)),
  deleteRecord: (key) => Effect.flatMap(local, ({ deleteRecord }) => deleteRecord(key)),
  changes: Stream.unwrap(Effect.map(local, ({ changes }) => changes))
})

/** Where a source is, for people. */
export const places: Readonly<Record<Credentials.Source, string>> = {
  env: "the environment",
  file: ".credentials.yaml in the home folder of dsh",
  "project-env": ".env of this folder",
  "user-env": ".env in the home folder of dsh"
}

/** A name or a value that is none is the fault of who typed it. */
export const failure = (error: Failure.Failure | Credentials.CredentialsError): Failure.Failure => {
  if (error instanceof Failure.Failure) return error
  if (error.code === "INVALID_REFERENCE" || error.code === "INVALID_CREDENTIAL") return Failure.usage(error.message)
  return Failure.configuration(error.code, error.message)
}

/** Most have none, and load nothing to find that out. */
const envFiles = (home: string): Effect.Effect<EnvFiles | undefined, Failure.Failure> =>
  Effect.suspend(() => {
    const project = process.cwd()
    if (![project, home].some((folder) => existsSync(join(folder, ".env")))) return Effect.succeed(undefined)
    return Effect.flatMap(
      Effect.promise(() => import("@dsh/settings/EnvFiles")),
      ({ load }) =>
        Effect.mapError(load({ project, home }), ({ code, message }) => Failure.configuration(code, message))
    )
  })
