/**
 * Files of another edition, whose rows differ: they are told of, and ignored.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"

/** Theirs, and what ours is called. */
const names = {
  "agent.cordis.yml": "agent.yml",
  "cordis.patch.yml": "dsh.patch.yml"
}

/** A sentence for each that is in the folder. */
export const notices = (folder: string): Effect.Effect<ReadonlyArray<string>, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const found: Array<string> = []
    for (const [theirs, ours] of Object.entries(names)) {
      const isThere = yield* Effect.orElseSucceed(fs.exists(`${folder}/${theirs}`), () => false)
      if (isThere) found.push(`${folder}/${theirs} belongs to another edition and is ignored; ours is called ${ours}`)
    }
    return found
  })
