/**
 * Whether the home folder can be used, and whether nobody else can.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs/promises"
import { constants } from "node:fs"
import type { Stats } from "node:fs"
import { dirname, join } from "node:path"
import * as HomeFolder from "../HomeFolder.ts"
import type { Check } from "./Finding.ts"
import * as Finding from "./Finding.ts"

class Refused extends Data.TaggedError("Refused")<{ readonly code: string | undefined; readonly message: string }> {}

const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, Refused> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => {
      const { code, message } = cause as NodeJS.ErrnoException
      return new Refused({ code, message })
    }
  })

const lookAt = (path: string): Effect.Effect<Stats | undefined, Refused> =>
  Effect.catchIf(
    attempt(() => Fs.stat(path)),
    ({ code }) => code === "ENOENT",
    () => Effect.succeed(undefined)
  )

/** The folder itself, or the one it would be made in. */
const standing = (folder: string): Effect.Effect<string, Refused> =>
  Effect.flatMap(lookAt(folder), (stat) =>
    stat !== undefined || dirname(folder) === folder ? Effect.succeed(folder) : standing(dirname(folder))
  )

const bits = (mode: number): string => (mode & 0o777).toString(8).padStart(4, "0")

const MiB = 2 ** 20

/** Logs of sessions take some; without any, a run ends at its first step. */
export const space = (bytes: number, path: string): ReadonlyArray<Finding.Finding> => {
  if (bytes >= 100 * MiB) return []
  const message = `${Math.floor(bytes / MiB)} MiB are free in ${path}`
  return [(bytes < MiB ? Finding.fail : Finding.warn)(message, "make some room: sessions are kept there")]
}

const privacy = (folder: string, { mode, uid }: Stats): ReadonlyArray<Finding.Finding> => {
  // Windows has neither.
  if (process.getuid === undefined) return []
  const remedy = `run "chmod 700 ${folder}"`
  return [
    ...(uid === process.getuid()
      ? []
      : [Finding.warn(`${folder} belongs to user ${uid}`, "use a folder of your own: set DSH_HOME")]),
    ...((mode & 0o022) !== 0
      ? [Finding.fail(`${folder} has mode ${bits(mode)}: others may write to it`, remedy)]
      : (mode & 0o055) !== 0
        ? [Finding.warn(`${folder} has mode ${bits(mode)}: others may look into it`, remedy)]
        : [])
  ]
}

const credentials = (folder: string): Effect.Effect<ReadonlyArray<Finding.Finding>, Refused> =>
  Effect.map(lookAt(join(folder, ".credentials.yaml")), (stat) => {
    if (stat === undefined || process.getuid === undefined || (stat.mode & 0o077) === 0) return []
    const file = join(folder, ".credentials.yaml")
    return [Finding.fail(`${file} has mode ${bits(stat.mode)}: others may read it`, `run "chmod 600 ${file}"`)]
  })

export const check: Check = ({ blocking }) =>
  Effect.gen(function* () {
    const folder = yield* HomeFolder.home
    if (blocking.length > 0) {
      return Finding.fail(
        `${blocking.join(", ")} cannot be read without waiting for somebody else: no file is there`,
        "move it away"
      )
    }
    const place = yield* standing(folder)
    const stat = yield* attempt(() => Fs.stat(place))
    if (!stat.isDirectory()) {
      return Finding.fail(`${folder} cannot be used: ${place} is no folder`, "move it away, or set DSH_HOME")
    }
    yield* attempt(() => Fs.access(place, constants.W_OK | constants.X_OK))
    const { bavail, bsize } = yield* attempt(() => Fs.statfs(place))
    const isThere = place === folder
    const wrong = [
      ...(isThere ? privacy(folder, stat) : []),
      ...(isThere ? yield* credentials(folder) : []),
      ...space(bavail * bsize, place)
    ]
    const [first, ...others] = wrong
    if (first !== undefined) return Finding.all([first, ...others])
    const free = `${((bavail * bsize) / 2 ** 30).toFixed(1)} GiB free`
    return Finding.ok(isThere ? `${folder}, ${free}` : `${folder} is made when it is needed, ${free}`)
  }).pipe(
    Effect.catchTag("Refused", ({ message }) =>
      Effect.succeed(Finding.fail(`the home folder cannot be used: ${message}`, "make it writable, or set DSH_HOME"))
    )
  )
