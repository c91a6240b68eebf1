/**
 * The two folders of a session: the one it works in, and the one that is its `/tmp`. The latter goes with the process if there is
 * nothing in it, and otherwise when nobody has touched it for a week: a session that is resumed finds what it put there.
 */
import type { Session } from "@dsh/session/Session"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { promisify } from "node:util"
import { SandboxError, remedy } from "../Sandbox.ts"
import * as Worktree from "../Worktree.ts"

export interface Folders {
  /** Both canonical. */
  readonly workspace: string
  readonly temp: string
  /** See `Confinement.commits`. */
  readonly commits: ReadonlyArray<string>
}

export interface Options {
  readonly workspace?: string
  readonly tempParent?: string
}

const day = 24 * 3600 * 1000
const week = 7 * day

export const make = ({ tempParent, workspace = process.cwd() }: Options) =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    // The first request waits for it, and a handful of system calls at once is done sooner than one that others wait for.
    const parent = yield* Effect.cached(
      attempt(() => privateFolder(tempParent ?? join(tmpdir(), `dsh-tmp-${process.getuid?.() ?? "user"}`)))
    )

    const made = new Map<string, Folders>()
    // Only what is empty can be removed this way.
    const leave = (path: string) => Effect.ignore(Effect.tryPromise(() => rmdir(path)))
    /** A workspace below `/tmp` is mounted into the folder, which leaves empty ones on the way to it. */
    const leaveWith = ({ temp, workspace }: Folders) => {
      const below = relative("/tmp", workspace)
      const parts = below.startsWith("..") ? [] : below.split("/")
      const paths = parts.map((_, i) => join(temp, ...parts.slice(0, parts.length - i)))
      return Effect.forEach([...paths, temp], leave, { discard: true })
    }
    yield* Effect.addFinalizer(() =>
      Effect.gen(function* () {
        if (made.size === 0) return
        yield* Effect.forEach(made.values(), leaveWith, { discard: true })
        // At the end: nobody waits for it then.
        yield* Effect.ignore(
          Effect.tap(parent, (path) =>
            Effect.zipRight(
              Effect.tryPromise(() => removeOld(path, now)),
              leave(path)
            )
          )
        )
      })
    )

    const folders = (name: string, cwd: string) =>
      Effect.flatMap(parent, (path) =>
        Effect.tap(
          attempt(() => {
            const workspace = canonical(cwd)
            return { workspace, temp: privateFolder(join(path, name)), commits: Worktree.commitFolders(workspace) }
          }),
          (both) => Effect.sync(() => made.set(both.temp, both))
        )
      )

    const known = new WeakMap<Session, Folders>()
    return {
      standing: yield* Effect.cached(folders("standing", workspace)),
      of: (session: Session) =>
        Effect.suspend(() => {
          const found = known.get(session)
          if (found !== undefined) return Effect.succeed(found)
          return Effect.tap(folders(encodeURIComponent(session.id), session.header.cwd ?? workspace), (both) =>
            Effect.sync(() => known.set(session, both))
          )
        })
    }
  })

const attempt = <A>(run: () => A): Effect.Effect<A, SandboxError> =>
  Effect.try({
    try: run,
    catch: (cause) =>
      new SandboxError({
        code: "SANDBOX_UNAVAILABLE",
        message: `no private folder for /tmp can be made (${cause instanceof Error ? cause.message : String(cause)}); set TMPDIR to a folder of your own, or ${remedy}`,
        cause
      })
  })

const canonical = (path: string): string => {
  try {
    return Fs.realpathSync.native(path)
  } catch {
    return path
  }
}

/** In a shared folder somebody else may have been there first. */
const privateFolder = (path: string): string => {
  Fs.mkdirSync(path, { recursive: true, mode: 0o700 })
  // Not through a link: that could be somebody else's as well.
  const found = Fs.lstatSync(path)
  const { mode, uid } = found
  if (!found.isDirectory() || (process.getuid !== undefined && uid !== process.getuid())) {
    throw new Error(`${path} is no folder of this user`)
  }
  if ((mode & 0o077) !== 0) Fs.chmodSync(path, 0o700)
  return Fs.realpathSync.native(path)
}

/** More than so many are looked at once a day. */
const many = 100

/**
 * Processes that were killed leave their folders, and a batch of a thousand sessions leaves a thousand. Empty ones go when nobody has
 * used them for a day. Whatever cannot be removed is left to the system's own cleaning.
 */
const removeOld = async (parent: string, now: number): Promise<void> => {
  const mark = join(parent, ".cleaned")
  const timeOf = (path: string) => stat(path).then(({ mtimeMs }) => mtimeMs)
  const names = (await readdir(parent)).filter((name) => join(parent, name) !== mark)
  if (names.length > many) {
    if ((await timeOf(mark).catch(() => 0)) > now - day) return
    await writeFile(mark, "")
    await utimes(mark, now / 1000, now / 1000)
  }
  for (const name of names) {
    const path = join(parent, name)
    const time = await timeOf(path).catch(() => now)
    if (time < now - week) await rm(path, { recursive: true, force: true }).catch(() => {})
    else if (time < now - day) await rmdir(path).catch(() => {})
  }
}

// Not of `node:fs/promises`, which a run that only talks would load for this alone.
const readdir = promisify(Fs.readdir)
const rm = promisify(Fs.rm)
const rmdir = promisify(Fs.rmdir)
const stat = promisify(Fs.stat)
const utimes = promisify(Fs.utimes)
const writeFile = promisify(Fs.writeFile)
