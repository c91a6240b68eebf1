/**
 * Where the command line takes keys from: the environment, what `dsh credentials` keeps, and `.env` files, in this order.
 */
import * as Credentials from "@dsh/settings/Credentials"
import * as CredentialsLocal from "@dsh/settings/CredentialsLocal"
import type { EnvFiles } from "@dsh/settings/EnvFiles"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as Failure from "./Failure.ts"
import * as HomeFolder from "./HomeFolder.ts"

/** The references of what can be used here. */
export const references: ReadonlyArray<string> = ["DEEPSEEK_API_KEY", "EXA_API_KEY", "PERPLEXITY_API_KEY"]

export interface Keys {
  readonly credentials: Credentials.Credentials["Type"]
  /** The values that somebody was given so far, and those that lie about in `.env` files: none of them belongs into a result. */
  readonly known: () => Iterable<string>
}

/** Fails with exit code 3 when a `.env` file is no such file, or sets what none may set. */
export const load: Effect.Effect<Keys, Failure.Failure> = Effect.gen(function* () {
  const folder = yield* HomeFolder.home
  const files = yield* envFiles(folder)
  const credentials = yield* Effect.provide(CredentialsLocal.make({ folder, ...files }), NodeFileSystem.layer)
  const known = new Set(
    references.flatMap((ref) => [files?.projectEnv.get(ref) ?? [], files?.userEnv.get(ref) ?? []].flat())
  )
  return {
    credentials: {
      ...credentials,
      resolve: (ref) =>
        Effect.tap(credentials.resolve(ref), (found) => {
          if (Option.isSome(found)) known.add(Redacted.value(found.value.value).trim())
          return Effect.void
        })
    },
    known: () => known
  }
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
