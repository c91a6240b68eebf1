/**
 * Credentials that are kept on this machine: in `.credentials.yaml` in a folder, which only its owner may read. The environment wins over
 * it, and it wins over `.env` files. It is read whenever it is asked for, so a key that was set counts at once; as long as there is none,
 * nothing is loaded to read it.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Credentials } from "./Credentials.ts"
import * as Environment from "./Credentials/Environment.ts"
import * as Resolution from "./Credentials/Resolution.ts"
import { empty } from "./Credentials/Store.ts"
import type { Store } from "./Credentials/Store.ts"

export interface Options {
  /** Absolute. It does not have to exist. */
  readonly folder: string
  /** What `.env` in the folder of the project says. */
  readonly projectEnv?: ReadonlyMap<string, string>
  /** What `.env` in `folder` says. */
  readonly userEnv?: ReadonlyMap<string, string>
}

/** The environment is read with the ConfigProvider that is current when it is made. */
export const make = ({ folder, ...files }: Options): Effect.Effect<Credentials["Type"], never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    return yield* Resolution.make({ ...files, env: yield* Environment.reader, store: lazy(folder, fs) })
  })

/** Where no file is, there is nothing to load for reading it. */
const lazy = (folder: string, fs: FileSystem.FileSystem): Store => {
  const file = `${folder}/.credentials.yaml`
  const store = Effect.map(
    Effect.promise(() => import("./CredentialsLocal/FileStore.ts")),
    ({ make }) => make(file, fs)
  )
  // What cannot even be looked at is told by whoever reads it.
  const isThere = Effect.orElseSucceed(fs.exists(file), () => true)
  return {
    read: Effect.if(isThere, {
      onTrue: () => Effect.flatMap(store, ({ read }) => read),
      onFalse: () => Effect.succeed(empty)
    }),
    change: (make) => Effect.flatMap(store, ({ change }) => change(make)),
    touched: (touch) => Effect.flatMap(store, ({ touched }) => touched(touch))
  }
}

export const layer = (options: Options): Layer.Layer<Credentials, never, FileSystem.FileSystem> =>
  Layer.effect(Credentials, make(options))
