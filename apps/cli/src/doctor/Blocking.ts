/**
 * What would be waited for without an end if it were read: a pipe or a device where a file belongs. Node cannot give up on a file that is
 * being opened, not even to end the process; so whatever reads such a place is not begun.
 */
import { fileName as patchFile } from "@dsh/compose/PatchFile"
import { manifestFile } from "@dsh/compose/ProfileFolder"
import { fileNames as settings } from "@dsh/settings/Settings"
import * as Effect from "effect/Effect"
import { stat } from "node:fs/promises"
import { join } from "node:path"
import * as HomeFolder from "../HomeFolder.ts"

const isBlocking = (path: string): Effect.Effect<boolean> =>
  Effect.match(
    Effect.tryPromise(() => stat(path)),
    { onFailure: () => false, onSuccess: (found) => !found.isFile() && !found.isDirectory() }
  )

/** Paths in the home folder. A home that cannot be looked at is one of them. */
export const find = (profile: string): Effect.Effect<ReadonlyArray<string>> =>
  Effect.flatMap(HomeFolder.home, (home) => {
    const inProfile = [manifestFile, patchFile].map((name) => join("profiles", profile, name))
    const names = [...settings, ".credentials.yaml", patchFile, ...inProfile]
    return Effect.filter(
      names.map((name) => join(home, name)),
      isBlocking
    ).pipe(
      Effect.disconnect,
      Effect.timeoutTo({ duration: "5 seconds", onSuccess: (found) => found, onTimeout: () => [home] })
    )
  })
