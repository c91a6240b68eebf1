/**
 * Files that may come and go, with the folders they are in.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { basename, dirname } from "node:path"

/** The folders to look at and the names that count in each: those of the files, and where links lead. */
export const foldersOf = (
  files: ReadonlyArray<string>
): Effect.Effect<ReadonlyMap<string, ReadonlySet<string>>, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folders = new Map<string, Set<string>>()
    for (const file of files) {
      for (const path of [file, yield* Effect.orElseSucceed(fs.realPath(file), () => file)]) {
        const names = folders.get(dirname(path)) ?? new Set()
        folders.set(dirname(path), names.add(basename(path)))
      }
    }
    return folders
  })

/** Text that differs when a file has come, gone or changed. */
export const contentOf = (files: ReadonlyArray<string>): Effect.Effect<string, never, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.map(
      Effect.forEach(files, (file) =>
        Effect.match(fs.readFileString(file), {
          onFailure: ({ message }) => ({ message }),
          onSuccess: (text) => text
        })
      ),
      (texts) => JSON.stringify(texts)
    )
  )

interface Place {
  readonly path: string
  /** A folder that was taken away and made again is another one. */
  readonly inode: number | undefined
}

/** The folder, or the deepest one above it that is there. */
const nearest = (folder: string): Effect.Effect<Place, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    for (let path = folder; ; path = dirname(path)) {
      const stat = yield* Effect.option(fs.stat(path))
      if (Option.isSome(stat) && stat.value.type === "Directory") {
        return { path, inode: Option.getOrUndefined(stat.value.ino) }
      }
      if (dirname(path) === path) return { path, inode: undefined }
    }
  })

/** As long as it may take until a folder is watched. */
const settled = "100 millis"

/** When a folder cannot be watched: the system may have no more watches just now. */
const again = "5 seconds"

/** Calls `touch` when one of the names may have changed in the folder. Never ends. */
export const pulse = (
  folder: string,
  names: ReadonlySet<string>,
  touch: Effect.Effect<unknown>
): Effect.Effect<never, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const place = yield* nearest(folder)
    const moved = Effect.map(nearest(folder), ({ inode, path }) => path !== place.path || inode !== place.inode)
    // Before it is watched nothing is seen, so it is looked at once more afterwards.
    const look = Stream.as(Stream.fromEffect(Effect.sleep(settled)), undefined)
    const events = Stream.merge(fs.watch(place.path), look, { haltStrategy: "left" }).pipe(
      Stream.tap((event) =>
        event !== undefined && place.path === folder && names.has(basename(event.path)) ? touch : Effect.void
      ),
      Stream.takeUntilEffect(() => moved),
      Stream.runDrain
    )
    const isWatched = yield* Effect.match(events, { onFailure: () => false, onSuccess: () => true })
    if (!isWatched) yield* Effect.sleep(again)
    // What happened on the way to another folder was not seen.
    yield* touch
  }).pipe(Effect.forever)
