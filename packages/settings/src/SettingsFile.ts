/**
 * The settings document as a file that people edit: `settings.yaml`, `settings.yml` or `settings.json` of a folder, the first that is
 * there. It is data: nothing in it is evaluated. It is read whenever it is asked for, so an edit counts at once.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { Settings, SettingsError, decode, show } from "./Settings.ts"

export interface Options {
  /** Absolute. It does not have to exist. */
  readonly folder: string
}

const names = ["settings.yaml", "settings.yml", "settings.json"]

export const make = ({ folder }: Options): Effect.Effect<Settings["Type"], never, FileSystem.FileSystem> =>
  Effect.map(FileSystem.FileSystem, (fs) => {
    const unreadable = (file: string, reason: string) =>
      new SettingsError({ code: "SETTINGS_UNREADABLE", file, reason: `cannot be read: ${reason}` })

    const find = Effect.gen(function* () {
      for (const name of names) {
        const file = `${folder}/${name}`
        const isThere = yield* Effect.mapError(fs.exists(file), (error) => unreadable(file, error.message))
        if (isThere) return file
      }
      return undefined
    })

    const open = (file: string) =>
      Effect.gen(function* () {
        const text = yield* Effect.mapError(fs.readFileString(file), (error) => unreadable(file, error.message))
        // Loaded when there is something to read: most runs have no settings, and YAML takes longer to load than they do.
        const { read } = yield* Effect.promise(() => import("./SettingsFile/Document.ts"))
        return yield* Either.mapLeft(
          read(text),
          (fault) => new SettingsError({ code: "SETTINGS_INVALID", file, ...fault })
        )
      })

    return Settings.of({
      get: (section) =>
        Effect.gen(function* () {
          const file = yield* find
          if (file === undefined) return yield* Effect.succeedNone
          const document = yield* open(file)
          if (!(section.name in document.value)) return yield* Effect.succeedNone
          const decoded = decode(section, document.value[section.name])
          if (Either.isRight(decoded)) return yield* Effect.succeedSome(decoded.right)
          const { path, reason } = decoded.left
          return yield* new SettingsError({
            code: "SETTINGS_INVALID",
            file,
            ...document.placeOf(path),
            path: show(path),
            reason
          })
        })
    })
  })

export const layer = (options: Options): Layer.Layer<Settings, never, FileSystem.FileSystem> =>
  Layer.effect(Settings, make(options))
