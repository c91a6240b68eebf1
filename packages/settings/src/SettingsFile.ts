/**
 * The settings document as a file that people edit: `settings.yaml`, `settings.yml` or `settings.json` of a folder, the first that is
 * there. It is data: nothing in it is evaluated. It is read whenever it is asked for, so an edit counts at once.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as DocumentFile from "./DocumentFile.ts"
import { Settings, SettingsError } from "./Settings.ts"

export interface Options {
  /** Absolute. It does not have to exist. */
  readonly folder: string
}

const names = ["settings.yaml", "settings.yml", "settings.json"]

/** Where the settings of a folder are kept; undefined while there are none. */
export const find = ({ folder }: Options): Effect.Effect<string | undefined, SettingsError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    for (const name of names) {
      const file = `${folder}/${name}`
      const isThere = yield* Effect.mapError(
        fs.exists(file),
        ({ message }) => new SettingsError({ code: "SETTINGS_UNREADABLE", file, reason: `cannot be read: ${message}` })
      )
      if (isThere) return file
    }
    return undefined
  })

/** Where settings are written to. */
export const place = (options: Options): Effect.Effect<string, SettingsError, FileSystem.FileSystem> =>
  Effect.map(find(options), (file) => file ?? `${options.folder}/${names[0]}`)

export const make = (options: Options): Effect.Effect<Settings["Type"], never, FileSystem.FileSystem> =>
  Effect.map(Effect.context<FileSystem.FileSystem>(), (context) =>
    Settings.of({
      get: (section) =>
        Effect.flatMap(find(options), (file) =>
          file === undefined ? Effect.succeedNone : DocumentFile.readSection(file, section.name, section.schema)
        ).pipe(Effect.provide(context))
    })
  )

export const layer = (options: Options): Layer.Layer<Settings, never, FileSystem.FileSystem> =>
  Layer.effect(Settings, make(options))
