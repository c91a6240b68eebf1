/**
 * `dsh settings edit`: a copy of the settings in the user's editor. It takes their place when it fits; else it stays where it is.
 */
import * as SettingsText from "@dsh/settings/SettingsText"
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
      const file = yield* SettingsText.place(folder)
      const before = yield* SettingsText.read(file)
      const copy = file.replace(/\.\w+$/, (extension) => `.edited-${process.pid}${extension}`)
      const start = before ?? (file.endsWith(".json") ? "{}\n" : blank)
      yield* SettingsText.replace(copy, { from: undefined, to: start })
      // As long as nothing is written in it, nobody misses it.
      const tidy = Effect.flatMap(SettingsText.read(copy), (now) =>
        now === start ? fs.remove(copy) : Effect.void
      ).pipe(Effect.ignore)
      yield* Effect.onError(Editor.open(editor, copy), () => tidy)
      const after = (yield* SettingsText.read(copy)) ?? start
      if (after === start) {
        output.notice("nothing was changed")
      } else {
        const keep = <E extends { readonly code: string; readonly message: string }>({ code, message }: E) =>
          Failure.configuration(code, `${message}; the settings are as they were, and what you wrote is in ${copy}`)
        const values = yield* Effect.mapError(SettingsText.check(copy, KnownSettings.sections), keep)
        for (const name of Object.keys(values)) {
          if (KnownSettings.sections.every((section) => section.name !== name)) {
            output.notice(`${KnownSettings.unknownSection(name)} (it is kept)`)
          }
        }
        yield* Effect.mapError(SettingsText.replace(file, { from: before, to: after }), keep)
        output.notice(`${file} is changed`)
      }
      yield* Effect.ignore(fs.remove(copy))
    })
  )
  return ExitCode.completed
})
