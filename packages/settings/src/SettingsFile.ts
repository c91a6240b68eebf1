/**
 * The settings document as a file that people edit, in a folder. It is data: nothing in it is evaluated. It is read whenever it is asked
 * for, so an edit counts at once. As long as there is none, nothing is loaded to read it.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as DocumentFile from "./DocumentFile.ts"
import { Settings } from "./Settings.ts"
import * as Sections from "./Settings/Sections.ts"
import * as SettingsFolder from "./SettingsFolder.ts"
import * as Watch from "./Watch.ts"

export interface Options {
  /** Absolute. It does not have to exist. */
  readonly folder: string
}

export const make = ({ folder }: Options): Effect.Effect<Settings["Type"], never, FileSystem.FileSystem> =>
  Effect.flatMap(Effect.context<FileSystem.FileSystem>(), (context) =>
    Sections.make({
      get: (section) =>
        Effect.flatMap(SettingsFolder.find(folder), (file) =>
          file === undefined ? Effect.succeedNone : DocumentFile.readSection(file, section.name, section.schema)
        ).pipe(Effect.provide(context)),
      read: Effect.flatMap(SettingsFolder.place(folder), DocumentFile.snapshot).pipe(Effect.provide(context)),
      write: (change) =>
        Effect.flatMap(SettingsFolder.place(folder), (file) =>
          DocumentFile.revise(file, (values) => change({ file, values }))
        ).pipe(Effect.provide(context)),
      touched: Watch.folder(folder, SettingsFolder.isSettings)
    })
  )

export const layer = (options: Options): Layer.Layer<Settings, never, FileSystem.FileSystem> =>
  Layer.effect(Settings, make(options))
