/**
 * The layers of a profile: its bundles, then what the user changed in it, in the home folder, and on the command line.
 */
import { bundles } from "@dsh/bundles/Bundles"
import { catalogue } from "@dsh/bundles/Catalogue"
import type { Means } from "@dsh/compose/Compose"
import type { CompositionError } from "@dsh/compose/CompositionError"
import * as PatchFile from "@dsh/compose/PatchFile"
import type { PatchLayer } from "@dsh/compose/Row"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import * as HomeFolder from "./HomeFolder.ts"

/** What rows are made from: what is in the box, and this process. */
export const means: Effect.Effect<Means["Type"]> = Effect.map(HomeFolder.home, (home) => ({
  catalogue,
  surroundings: {
    // An empty variable is one that is not set.
    env: (name) => process.env[name]?.trim() || undefined,
    home,
    cwd: process.cwd(),
    platform: process.platform
  }
}))

const fileName = "dsh.patch.yml"

/** The files the user may have, weakest first. */
const own = (profile: string) =>
  Effect.map(HomeFolder.home, (home) =>
    [join(home, "profiles", profile, fileName), join(home, fileName)].filter((file) => existsSync(file))
  )

export interface Options {
  readonly profile: string
  /** As they were given, strongest last. */
  readonly patches?: ReadonlyArray<string>
}

/** The bundles of a profile. */
export const bundled = (profile: string): ReadonlyArray<PatchLayer> => [bundles["base"]!, bundles[profile]!]

/** Them, and what the user changed. */
export const layers = ({
  patches = [],
  profile
}: Options): Effect.Effect<ReadonlyArray<PatchLayer>, CompositionError> =>
  Effect.gen(function* () {
    const files = yield* own(profile)
    const below = bundled(profile)
    if (files.length === 0 && patches.length === 0) return below
    const read = [...files, ...patches.map((file) => resolve(file))].map(PatchFile.read)
    return [...below, ...(yield* Effect.all(read))]
  }).pipe(Effect.provide(NodeFileSystem.layer))
