/**
 * The settings of a folder as a text, for those who let people look at it or edit it as a whole.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as DocumentFile from "./DocumentFile.ts"
import type { Section, SettingsError } from "./Settings.ts"
import * as SettingsFolder from "./SettingsFolder.ts"

type Answer<A> = Effect.Effect<A, SettingsError, FileSystem.FileSystem>

/** Where it is, or would be. */
export const place: (folder: string) => Answer<string> = SettingsFolder.place

/** Undefined while there is none. */
export const read: (file: string) => Answer<string | undefined> = DocumentFile.text

/** Puts a text in the place of another. Fails with `SETTINGS_CONFLICT` when the file holds neither of the two. */
export const replace: (
  file: string,
  texts: { readonly from: string | undefined; readonly to: string }
) => Answer<void> = DocumentFile.replace

/** What is written at the top level. */
export const values = (file: string): Answer<Readonly<Record<string, unknown>>> =>
  Effect.map(DocumentFile.snapshot(file), (snapshot) => snapshot.values)

/** The same, for a text whose sections all fit. */
export const check = (
  file: string,
  sections: ReadonlyArray<Section<unknown, unknown>>
): Answer<Readonly<Record<string, unknown>>> =>
  Effect.zipRight(
    Effect.forEach(sections, ({ name, schema }) => DocumentFile.readSection(file, name, schema), { discard: true }),
    values(file)
  )
