/**
 * `SpillStore` over the files of the world that tools and commands work in, whichever that is: what is saved can be read there. Texts of
 * a call that is confined are put in the folder that is its session's `/tmp`, where they are found also when the session is resumed.
 */
import { CurrentConfinement } from "@dsh/world/Confinement"
import { Fs } from "@dsh/world/Fs"
import type { FsError } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { randomBytes } from "node:crypto"
import { posix } from "node:path"
import { SpillError, SpillStore } from "./SpillStore.ts"
import * as SpillName from "./SpillName.ts"

export interface Options {
  /**
   * For calls that are not confined: a folder of the world, made when it is needed and kept. Default: a new one in `/tmp`, which others
   * may look into as into any new folder.
   */
  readonly root?: string
}

const hint = "look at parts of it with read or grep"

export const make = ({ root }: Options = {}): Effect.Effect<SpillStore["Type"], never, Fs> =>
  Effect.map(Fs, (fs) => {
    const own = root ?? `/tmp/dsh-spill-${randomBytes(6).toString("hex")}`

    const folderFor = (sessionId: string): Effect.Effect<string> =>
      Effect.map(CurrentConfinement, (held) => {
        if (held === undefined) return posix.join(own, SpillName.folderOf(sessionId))
        return held.mode !== "danger-full-access" && process.platform === "linux" ? "/tmp" : held.temp
      })

    /** Unless something else is there. */
    const put = (path: string, bytes: Uint8Array): Effect.Effect<string, FsError> =>
      Effect.gen(function* () {
        const target = yield* fs.resolve(path, { cwd: "/" })
        return yield* fs.write(target, bytes, { expected: "absent" }).pipe(
          Effect.as(path),
          Effect.catchIf(
            ({ code }) => code === "FS_NOT_OBSERVED",
            (taken) =>
              Effect.flatMap(fs.readBytes(target, { maxBytes: bytes.length }), (found) =>
                Buffer.compare(found.bytes, bytes) === 0 ? Effect.succeed(path) : taken
              )
          )
        )
      })

    return SpillStore.of({
      saveText: Effect.fn("SpillStore.saveText")(function* ({ content, owner, suggestedName }) {
        const folder = yield* folderFor(owner.sessionId)
        const bytes = Buffer.from(content, "utf8")
        const name = SpillName.of(suggestedName, bytes)
        const other = `${randomBytes(6).toString("hex")}-${name}`
        // Whoever is confined may have put anything there under that name.
        const locator = yield* put(posix.join(folder, name), bytes).pipe(
          Effect.catchAll(() => put(posix.join(folder, other), bytes)),
          Effect.mapError(failed)
        )
        return { locator, bytes: bytes.length, hint }
      })
    })
  })

export const layer = (options?: Options): Layer.Layer<SpillStore, never, Fs> => Layer.effect(SpillStore, make(options))

const failed = (cause: FsError): SpillError =>
  new SpillError({
    code: "SPILL_FAILED",
    message: `the text could not be saved (${cause.message}); make room there, or choose another folder`,
    cause
  })
