/**
 * The catalogue of a profile that has extensions. Only in the bundle that shares its modules with them.
 */
import type { Catalogue } from "@dsh/compose/Catalogue"
import * as Extensions from "@dsh/compose/Extensions"
import type { Profile } from "@dsh/compose/ProfileFolder"
import * as Host from "@dsh/extension-host"
import type { Shared } from "@dsh/extension-host"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Effect from "effect/Effect"
import { fileURLToPath } from "node:url"

let host: ReturnType<typeof Host.open> | undefined

export const catalogue = (
  profile: Profile,
  inBox: Catalogue,
  modules: Shared
): Effect.Effect<Catalogue, never, FileSystem.FileSystem> =>
  Extensions.catalogue({
    inBox,
    profile: profile.name,
    folder: profile.folder,
    host: fileURLToPath(import.meta.url),
    load: (name, folder) => (host ??= Host.open(modules)).load(name, folder)
  })
