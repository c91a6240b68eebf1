/**
 * Where the settings of a folder are: `settings.yaml`, `settings.yml` or `settings.json`, the first that is there.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { SettingsError, fileNames } from "./Settings.ts"

/** @param folder Absolute; it does not have to exist. Undefined while there are no settings. */
export const find = (folder: string): Effect.Effect<string | undefined, SettingsError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    for (const name of fileNames) {
      const file = `${folder}/${name}`
      const isThere = yield* Effect.mapError(
        fs.exists(file),
        ({ message }) => new SettingsError({ code: "SETTINGS_UNREADABLE", file, reason: `cannot be read: ${message}` })
      )
      if (isThere) return file
    }
    return undefined
  })

/** The file to write to, there or not. */
export const place = (folder: string): Effect.Effect<string, SettingsError, FileSystem.FileSystem> =>
  Effect.map(find(folder), (file) => file ?? `${folder}/${fileNames[0]}`)

/** Whether a file of that name can be the settings. */
export const isSettings = (name: string): boolean => fileNames.includes(name)
