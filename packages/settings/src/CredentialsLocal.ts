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
import * as FileStore from "./CredentialsLocal/FileStore.ts"

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
    return yield* Resolution.make({ ...files, env: yield* Environment.reader, store: FileStore.make(folder, fs) })
  })

export const layer = (options: Options): Layer.Layer<Credentials, never, FileSystem.FileSystem> =>
  Layer.effect(Credentials, make(options))
