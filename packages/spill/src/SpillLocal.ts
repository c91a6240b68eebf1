/**
 * `SpillStore` over files of this machine, whatever the world of the tools is: see `SpillFs` for one that goes with it. Those of a call that is confined are put in the folder that is its session's `/tmp`, where
 * its commands and its tools find them, also when the session is resumed; all others in a private folder that goes with the service.
 *
 * Who is confined can change that folder, so nothing in it is trusted: files are made directly in it, never through a link, and a file
 * that is there already is taken for ours only if it holds the same.
 */
import { CurrentConfinement } from "@dsh/world/Confinement"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import { constants } from "node:fs"
import * as Fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as SpillName from "./SpillName.ts"
import { SpillError, SpillStore } from "./SpillStore.ts"

export interface Options {
  /** For calls that are not confined: a folder that is kept. Default: a private one in the system's temporary folder, removed at the end. */
  readonly root?: string
}

const hint = "look at parts of it with read or grep"

export const make = ({ root }: Options = {}): Effect.Effect<SpillStore["Type"], never, Scope.Scope> =>
  Effect.gen(function* () {
    let temporary: string | undefined
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        const path = temporary
        return path === undefined
          ? Effect.void
          : Effect.ignoreLogged(Effect.tryPromise(() => Fs.rm(path, { recursive: true, force: true })))
      })
    )
    const one = yield* Effect.makeSemaphore(1)
    const own = one.withPermits(1)(
      Effect.suspend(() =>
        root !== undefined || temporary !== undefined
          ? Effect.succeed(root ?? temporary!)
          : Effect.tap(Effect.uninterruptible(attempt(() => Fs.mkdtemp(join(tmpdir(), "dsh-spill-")))), (made) =>
              Effect.sync(() => (temporary = made))
            )
      )
    )

    /** The real folder of a session, and what its tools call it. */
    const folderOf = Effect.fnUntraced(function* (sessionId: string) {
      const held = yield* CurrentConfinement
      if (held !== undefined) {
        const isMapped = held.mode !== "danger-full-access" && process.platform === "linux"
        return { real: held.temp, seen: isMapped ? "/tmp" : held.temp }
      }
      const real = join(yield* own, SpillName.folderOf(sessionId))
      yield* attempt(() => Fs.mkdir(real, { recursive: true, mode: 0o700 }))
      return { real, seen: real }
    })

    return SpillStore.of({
      saveText: Effect.fn("SpillStore.saveText")(function* ({ content, owner, suggestedName }) {
        const { real, seen } = yield* folderOf(owner.sessionId)
        const bytes = Buffer.from(content, "utf8")
        const made = yield* attempt(() => put(real, SpillName.of(suggestedName, bytes), bytes))
        return { locator: join(seen, made), bytes: bytes.length, hint }
      })
    })
  })

export const layer = (options?: Options): Layer.Layer<SpillStore> => Layer.scoped(SpillStore, make(options))

const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, SpillError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) =>
      new SpillError({
        code: "SPILL_FAILED",
        message: `the text could not be saved (${cause instanceof Error ? cause.message : String(cause)}); make room in ${tmpdir()}, or set TMPDIR to a folder of your own`,
        cause
      })
  })

/** The name it got. */
const put = async (folder: string, name: string, bytes: Buffer): Promise<string> => {
  if (await created(join(folder, name), bytes)) return name
  if (await holds(join(folder, name), bytes)) return name
  const other = `${randomBytes(6).toString("hex")}-${name}`
  if (await created(join(folder, other), bytes)) return other
  throw new Error(`${join(folder, other)} exists`)
}

/** False when something has that name. Half a file is none. */
const created = async (path: string, bytes: Buffer): Promise<boolean> => {
  const file = await Fs.open(path, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EEXIST") return undefined
    throw error
  })
  if (file === undefined) return false
  try {
    await file.writeFile(bytes)
  } catch (error) {
    await Fs.rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
  return true
}

const holds = async (path: string, bytes: Buffer): Promise<boolean> => {
  // Neither through a link, nor waiting for the other end of a pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = await Fs.open(path, flags).catch(() => undefined)
  if (file === undefined) return false
  try {
    const stat = await file.stat()
    return stat.isFile() && stat.size === bytes.length && bytes.equals(await file.readFile())
  } catch {
    return false
  } finally {
    await file.close()
  }
}
