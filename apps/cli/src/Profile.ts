/**
 * The layers of a profile: its bundles, then what the user changed in it, in the home folder, and on the command line.
 */
import { bundles, templates } from "@dsh/bundles/Bundles"
import { catalogue } from "@dsh/bundles/Catalogue"
import type { Catalogue } from "@dsh/compose/Catalogue"
import type { Means } from "@dsh/compose/Compose"
import type { CompositionError } from "@dsh/compose/CompositionError"
import * as Composing from "@dsh/compose/CompositionError"
import * as PatchFile from "@dsh/compose/PatchFile"
import * as ProfileFolder from "@dsh/compose/ProfileFolder"
import type { Profile } from "@dsh/compose/ProfileFolder"
import type { PatchLayer } from "@dsh/compose/Row"
import * as Nearest from "@dsh/kernel/Nearest"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { existsSync, readdirSync } from "node:fs"
import { join, resolve } from "node:path"
import type { Launch } from "./Argv.ts"
import * as HomeFolder from "./HomeFolder.ts"
import { modules } from "./Shared.ts"

const own = <A>(table: Readonly<Record<string, A>>, name: string): A | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

export const folderOf = (name: string): Effect.Effect<string> =>
  Effect.map(HomeFolder.home, (home) => join(home, "profiles", name))

/** That of the user, else the template of that name. Fails with `UNKNOWN_PROFILE`, and with what is wrong with its manifest. */
export const load = (name: string): Effect.Effect<Profile, CompositionError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    yield* ProfileFolder.checkName(name)
    const folder = yield* folderOf(name)
    const found = existsSync(join(folder, ProfileFolder.manifestFile))
      ? yield* ProfileFolder.read(name, folder)
      : undefined
    if (found !== undefined) return found
    const template = own(templates, name)
    if (template !== undefined) return { name, folder, dependencies: [], ...template }
    return yield* Composing.of({
      code: "UNKNOWN_PROFILE",
      place: { source: "--profile" },
      reason: `there is no profile "${name}"`,
      remedy: `${Nearest.suggest(name, [...Object.keys(templates), ...made(folder)])} A new one is made by "dsh plugin --profile ${name} add PACKAGE"`
    })
  })

/** The profiles that were made, beside a folder of one. */
const made = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(join(folder, "..")).filter((name) => own(templates, name) === undefined)
  } catch {
    return []
  }
}

/** What it can be made of: what is in the box, and what is installed for it. */
const catalogueOf = (profile: Profile): Effect.Effect<Catalogue, never, FileSystem.FileSystem> =>
  modules === undefined || profile.dependencies.length === 0
    ? Effect.succeed(catalogue)
    : Effect.promise(() => import("./Profile/Extended.ts")).pipe(
        Effect.flatMap((extended) => extended.catalogue(profile, catalogue, modules!))
      )

/** The variable by which rows of the product say what new sessions may do. */
const permissionVariable = "DSH_PERMISSION_MODE"

/**
 * What rows of the profile are made from.
 *
 * @param permission What new sessions may do, where it is known better than from the environment.
 */
export const means = (
  profile: Profile,
  permission?: string
): Effect.Effect<Means["Type"], never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    return {
      catalogue: yield* catalogueOf(profile),
      surroundings: {
        // An empty variable is one that is not set.
        env: (name) =>
          (name === permissionVariable ? permission : undefined) ?? (process.env[name]?.trim() || undefined),
        home: yield* HomeFolder.home,
        cwd: process.cwd(),
        platform: process.platform
      }
    }
  })

/** Its bundles. */
export const bundled = (
  profile: Profile
): Effect.Effect<ReadonlyArray<PatchLayer>, CompositionError, FileSystem.FileSystem> =>
  Effect.forEach(profile.bundles, (name) => {
    const inBox = own(bundles, name)
    return inBox === undefined
      ? Effect.flatMap(
          Effect.promise(() => import("@dsh/compose/ExtensionBundle")),
          (extension) => extension.read(profile.folder, name, Object.keys(bundles))
        )
      : Effect.succeed(inBox)
  })

/** The files that the user may have changed it in, weakest first. */
export const ownFiles = (profile: Profile): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(HomeFolder.home, (home) => [join(profile.folder, PatchFile.fileName), join(home, PatchFile.fileName)])

/** Those that are there. */
export const patchFiles = (profile: Profile): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(ownFiles(profile), (files) => files.filter((file) => existsSync(file)))

/** What the user changed: in files, and with this command line. */
export const changes = (
  profile: Profile,
  patches: Launch["patches"]
): Effect.Effect<ReadonlyArray<PatchLayer>, CompositionError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    return yield* Effect.forEach(
      [...(yield* patchFiles(profile)), ...patches.map((file) => resolve(file))],
      PatchFile.read
    )
  })

/** Sentences about files of another edition that lie where ours would. */
export const foreign = ({ folder }: Profile): Effect.Effect<ReadonlyArray<string>, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const home = yield* HomeFolder.home
    const folders = [folder, home].filter((place) => existsSync(join(place, "cordis.patch.yml")))
    if (folders.length === 0) return []
    const { notices } = yield* Effect.promise(() => import("@dsh/compose/Foreign"))
    return (yield* Effect.forEach(folders, notices)).flat()
  })
