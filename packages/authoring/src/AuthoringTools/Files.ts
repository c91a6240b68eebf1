/**
 * The files of presets, read and written as a whole.
 */
import * as Composing from "@dsh/compose/CompositionError"
import type { CompositionError } from "@dsh/compose/CompositionError"
import { idPattern, idRule, infoFile, rowsFile } from "@dsh/compose/Preset"
import type { PresetLibrary } from "@dsh/compose/PresetLibrary"
import * as Presets from "@dsh/compose/Presets"
import type { Sources } from "@dsh/compose/Presets"
import * as FileSystem from "@effect/platform/FileSystem"
import type { PlatformError } from "@effect/platform/Error"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** In bytes. Nobody writes a preset that is longer. */
const maxBytes = 262_144

const refusal = (source: string, reason: string, remedy: string) =>
  Composing.of({ code: "INVALID_PRESET", place: { source }, reason, remedy })

const failed = (source: string) => (cause: PlatformError) =>
  Composing.of({ code: "PRESET_IO", place: { source }, reason: cause.message, remedy: "nothing was written" }, cause)

/** Both files, as they are. A file that is not there is told of. */
export const read = (sources: Sources, id: string): Effect.Effect<string, CompositionError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const isShipped = Presets.isShipped(sources, id)
    const found = (yield* Presets.users(sources)).find((user) => user.id === id)
    const folder = isShipped ? `${yield* sources.shippedFolder}/${id}` : found?.folder
    if (folder === undefined) return yield* Presets.unknown(sources, id, { source: sources.userFolder })
    const texts = yield* Effect.forEach([rowsFile, infoFile], (name) =>
      Effect.match(fs.readFileString(`${folder}/${name}`), {
        onFailure: () => `${folder}/${name} is not there.`,
        onSuccess: (text) => `${folder}/${name}:\n${text.trimEnd()}`
      })
    )
    const origin = isShipped ? "It is a preset of the product: do not edit it." : "It is a preset of the user's."
    return [origin, ...texts].join("\n\n")
  })

/** Writes a file of a preset of the user's: all of it or nothing, for the user alone to look at. Its path. */
export const write = (
  sources: Sources,
  id: string,
  name: "agent.yml" | "preset.yml",
  content: string
): Effect.Effect<string, CompositionError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const { userFolder } = sources
    if (!idPattern.test(id)) return yield* refusal(id, "is no id of a preset", idRule)
    if (Presets.isShipped(sources, id)) {
      return yield* refusal(`preset ${id}`, "is part of the product and stays", "write under another id")
    }
    if (Buffer.byteLength(content) > maxBytes) {
      return yield* refusal(`${userFolder}/${id}/${name}`, "that is too long", `write no more than ${maxBytes} bytes`)
    }
    const folder = `${userFolder}/${id}`
    const file = `${folder}/${name}`
    return yield* Effect.gen(function* () {
      yield* fs.makeDirectory(userFolder, { recursive: true, mode: 0o700 })
      yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
      // A link would lead the writing to wherever it points.
      if ((yield* fs.realPath(folder)) !== `${yield* fs.realPath(userFolder)}/${id}`) {
        return yield* refusal(folder, "is a link to somewhere else", "write under another id")
      }
      const temporary = `${folder}/.${name}.${yield* Clock.currentTimeNanos}`
      yield* fs.writeFileString(temporary, content, { mode: 0o600, flag: "wx" }).pipe(
        Effect.zipRight(fs.rename(temporary, file)),
        Effect.onError(() => Effect.ignore(fs.remove(temporary, { force: true })))
      )
      return file
    }).pipe(Effect.mapError((error) => (error._tag === "CompositionError" ? error : failed(file)(error))))
  })

/** Whether it can be used, or all that is wrong with it, a line each. */
export const judge = (
  { host, sources }: PresetLibrary["Type"],
  id: string
): Effect.Effect<string, never, FileSystem.FileSystem> =>
  Presets.find(sources, id).pipe(
    Effect.flatMap((written) => Presets.chain(sources, written)),
    Effect.flatMap((chain) => Presets.compose(chain, host())),
    Effect.match({
      onFailure: ({ message }) => `The preset ${id} cannot be used:\n${message}`,
      onSuccess: () => `The preset ${id} can be used.`
    })
  )
