/**
 * Bundles of rows that installed packages bring: `package.json` names the patch file, as `dsh.bundle.patch`.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { CompositionError } from "./CompositionError.ts"
import * as Composing from "./CompositionError.ts"
import * as PatchFile from "./PatchFile.ts"
import type { PatchLayer } from "./Row.ts"

const Manifest = Schema.parseJson(
  Schema.Struct({ dsh: Schema.Struct({ bundle: Schema.Struct({ patch: Schema.NonEmptyString }) }) })
)

/** The patch file of a package, absolute; none when it declares none, or is not there. */
export const patchOf = (
  folder: string,
  name: string
): Effect.Effect<Option.Option<string>, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const place = `${folder}/node_modules/${name}`
    const text = yield* Effect.option(fs.readFileString(`${place}/package.json`))
    return Option.flatMap(text, (content) =>
      Option.map(
        Either.getRight(Schema.decodeUnknownEither(Manifest)(content)),
        ({ dsh }) => `${place}/${dsh.bundle.patch}`
      )
    )
  })

/** Its layer. Fails with `UNKNOWN_BUNDLE` or `INVALID_BUNDLE`, or with what is wrong with the file. */
export const read = (
  folder: string,
  name: string,
  known: ReadonlyArray<string>
): Effect.Effect<PatchLayer, CompositionError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const file = yield* patchOf(folder, name)
    if (Option.isNone(file)) {
      return yield* Composing.of({
        code: "UNKNOWN_BUNDLE",
        place: { source: `${folder}/package.json` },
        reason: `names the bundle ${name}, which is neither in the box (${known.join(", ")}) nor installed with a dsh.bundle.patch`,
        remedy: `install it with "dsh plugin --profile … add ${name}", or take it out of dsh.profile.bundles`
      })
    }
    const layer = yield* PatchFile.readIfPresent(file.value)
    if (layer !== undefined) return layer
    return yield* Composing.of({
      code: "INVALID_BUNDLE",
      place: { source: `${folder}/node_modules/${name}/package.json` },
      reason: `names ${file.value} as its patch, which is not there`,
      remedy: "correct dsh.bundle.patch, and list the file under files"
    })
  })
