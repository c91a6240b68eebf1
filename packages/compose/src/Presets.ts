/**
 * Which presets there are, what each is made of, and whether it fits a composition. Nothing is started.
 */
import type { PresetInfo } from "@dsh/agent/AgentPresets"
import * as Nearest from "@dsh/kernel/Nearest"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Compose from "./Compose.ts"
import type { Composed, Means } from "./Compose.ts"
import * as Composing from "./CompositionError.ts"
import type { CompositionError, Place } from "./CompositionError.ts"
import * as Foreign from "./Foreign.ts"
import { idRule, infoFile, rowsFile } from "./Preset.ts"
import type { Preset } from "./Preset.ts"
import * as PresetFolder from "./PresetFolder.ts"
import type { Found } from "./PresetFolder.ts"
import * as Row from "./Row.ts"

export interface Sources {
  /** Part of the product, by id. They are known without reading a file. */
  readonly shipped: Readonly<Record<string, Preset>>
  /** Where the files of those are, for people to look at and to copy. Absolute. */
  readonly shippedFolder: Effect.Effect<string>
  /** Where the user's are. Absolute; it may not exist. */
  readonly userFolder: string
}

/** A preset and where it is written. */
export interface Written {
  readonly preset: Preset
  /** Its folder; undefined for those of the product. */
  readonly folder: string | undefined
  /** See `PresetFolder.stamp`. Taken before it was read. */
  readonly stamp: string
}

/** A preset as it stands in a listing, usable or not. */
export interface Listed {
  readonly info: PresetInfo
  /** Why it cannot be used. */
  readonly error: CompositionError | undefined
}

/** Of a preset that could not be read. */
const lastOrder = Number.MAX_SAFE_INTEGER

export const isShipped = ({ shipped }: Sources, id: string): boolean => Object.hasOwn(shipped, id)

/** The folders of the user's. One with the id of a preset of the product is none of them. */
export const users = (sources: Sources): Effect.Effect<ReadonlyArray<Found>, never, FileSystem.FileSystem> =>
  Effect.map(PresetFolder.list(sources.userFolder), (found) => found.filter(({ id }) => !isShipped(sources, id)))

/** Why there is none of that id. */
export const unknown = (sources: Sources, id: string, place: Place) =>
  Effect.flatMap(users(sources), (found) =>
    Composing.of({
      code: "UNKNOWN_PRESET",
      place,
      reason: `there is no preset "${id}"`,
      remedy: Nearest.suggest(id, [...Object.keys(sources.shipped), ...found.map((user) => user.id)])
    })
  )

const known = (preset: Preset): Written => ({ preset, folder: undefined, stamp: "" })

/** Reads one that may be anywhere. */
export const read = (found: Found): Effect.Effect<Written, CompositionError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const stamp = yield* PresetFolder.stamp(found.folder)
    return { preset: yield* PresetFolder.read(found), folder: found.folder, stamp }
  })

const wanted = (sources: Sources, id: string, by: Place) =>
  Effect.gen(function* () {
    const own = isShipped(sources, id) ? sources.shipped[id] : undefined
    if (own !== undefined) return known(own)
    const found = (yield* users(sources)).find((user) => user.id === id)
    return yield* found === undefined ? unknown(sources, id, by) : read(found)
  })

/** Fails with `UNKNOWN_PRESET`, and with what is wrong in its files. */
export const find = (sources: Sources, id: string): Effect.Effect<Written, CompositionError, FileSystem.FileSystem> =>
  wanted(sources, id, { source: sources.userFolder })

/** It and those it extends, itself last. */
export const chain = (
  sources: Sources,
  written: Written
): Effect.Effect<ReadonlyArray<Written>, CompositionError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const found = [written]
    for (let { folder, preset } = written; preset.extends !== undefined; { folder, preset } = found[0]!) {
      const base = preset.extends
      const place =
        folder === undefined
          ? { source: sourceOf(found[0]!) }
          : { source: `${folder}/${infoFile}`, line: preset.extendsLine }
      const ids = found.map((each) => each.preset.id)
      if (ids.includes(base)) {
        return yield* Composing.of({
          code: "INVALID_PRESET",
          place,
          reason: `extends itself, by way of ${ids.join(", ")}`,
          remedy: "take extends out of one of them"
        })
      }
      found.unshift(yield* wanted(sources, base, place))
    }
    return found
  })

const sourceOf = ({ folder, preset }: Written): string =>
  folder === undefined ? `preset ${preset.id}` : `${folder}/${rowsFile}`

/** A composition that presets are for, running or not. */
export interface Host {
  readonly means: Means["Type"]
  /** Of its services; see `Compose.keysOf`. */
  readonly keys: ReadonlySet<string>
}

/** Checks all that can be checked of a preset without starting it. */
export const compose = (
  chain: ReadonlyArray<Written>,
  { keys, means }: Host
): Effect.Effect<Composed, CompositionError> =>
  Compose.compose({
    layers: chain.map((each) => Row.rows(sourceOf(each), each.preset.rows)),
    means,
    supposed: keys,
    isRealm: true
  })

/** Those of the product first, then the user's, in the order that they ask for. */
export const list = (
  sources: Sources,
  host: Host
): Effect.Effect<ReadonlyArray<Listed>, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const shippedFolder = yield* sources.shippedFolder
    const judged = (written: Written) =>
      Effect.match(
        Effect.flatMap(chain(sources, written), (all) => compose(all, host)),
        { onFailure: (error) => error, onSuccess: () => undefined }
      )
    const system = yield* Effect.forEach(Object.values(sources.shipped), (preset) =>
      Effect.map(judged(known(preset)), (error) =>
        entry({ id: preset.id, folder: `${shippedFolder}/${preset.id}` }, "system", preset, error)
      )
    )
    const own = yield* Effect.forEach(yield* users(sources), (found) =>
      Effect.gen(function* () {
        const written = yield* Effect.either(read(found))
        if (Either.isLeft(written)) return entry(found, "user", undefined, written.left)
        return entry(found, "user", written.right.preset, yield* judged(written.right))
      })
    )
    return [...system, ...own].sort((a, b) => a.order - b.order).map(({ listed }) => listed)
  })

/** What of the user's folder is no preset, one sentence each. */
export const ignored = (sources: Sources): Effect.Effect<ReadonlyArray<string>, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const { folders, unusable } = yield* PresetFolder.survey(sources.userFolder)
    const hidden = folders.filter(({ id }) => isShipped(sources, id))
    return [
      ...unusable.map((folder) => `${folder} is no preset: ${idRule}`),
      ...hidden.map(({ folder, id }) => `${folder} is not used: "${id}" is a preset of the product; rename the folder`),
      ...(yield* Effect.forEach(folders, ({ folder }) => Foreign.notices(folder))).flat()
    ]
  })

const entry = (
  { folder, id }: Found,
  trust: PresetInfo["trust"],
  preset: Preset | undefined,
  error: CompositionError | undefined
): { readonly order: number; readonly listed: Listed } => ({
  order: preset?.order ?? lastOrder,
  listed: {
    info: { id, name: preset?.name ?? id, description: preset?.description, trust, folder, problem: error?.message },
    error
  }
})
