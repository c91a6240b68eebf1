/**
 * `dsh settings edit`: a copy of the settings in the user's editor. It takes their place when it fits; else it stays where it is.
 */
import * as DocumentFile from "@dsh/settings/DocumentFile"
import * as SettingsFolder from "@dsh/settings/SettingsFolder"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import type { Command } from "../Dispatch.ts"
import * as Editor from "../Editor.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Failure from "../Failure.ts"
import * as KnownSettings from "../KnownSettings.ts"
import { Output } from "../Output.ts"

const blank = "# Settings of dsh, for all sessions. `dsh settings --help` and docs/settings.md say what there is.\n"

export const run: Command = Effect.gen(function* () {
  const output = yield* Output
  const editor = yield* Editor.find
  yield* KnownSettings.using((_, folder) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = yield* SettingsFolder.place(folder)
      const before = yield* DocumentFile.text(file)
      const copy = file.replace(/\.\w+$/, (extension) => `.edited-${process.pid}${extension}`)
      const start = before ?? (file.endsWith(".json") ? "{}\n" : blank)
      yield* DocumentFile.replace(copy, { from: undefined, to: start })
      // As long as nothing is written in it, nobody misses it.
      const tidy = Effect.flatMap(DocumentFile.text(copy), (now) =>
        now === start ? fs.remove(copy) : Effect.void
      ).pipe(Effect.ignore)
      yield* Effect.onError(Editor.open(editor, copy), () => tidy)
      const after = (yield* DocumentFile.text(copy)) ?? start
      if (after === start) {
        output.notice("nothing was changed")
      } else {
        const keep = <E extends { readonly code: string; readonly message: string }>({ code, message }: E) =>
          Failure.configuration(code, `${message}; the settings are as they were, and what you wrote is in ${copy}`)
        const { values } = yield* Effect.mapError(DocumentFile.snapshot(copy), keep)
        for (const { name, schema } of KnownSettings.sections) {
          yield* Effect.mapError(DocumentFile.readSection(copy, name, schema), keep)
        }
        for (const name of Object.keys(values)) {
          if (KnownSettings.sections.every((section) => section.name !== name)) {
            output.notice(`${KnownSettings.unknownSection(name)} (it is kept)`)
          }
        }
        yield* Effect.mapError(DocumentFile.replace(file, { from: before, to: after }), keep)
        output.notice(`${file} is changed`)
      }
      yield* Effect.ignore(fs.remove(copy))
    })
  )
  return ExitCode.completed
})
