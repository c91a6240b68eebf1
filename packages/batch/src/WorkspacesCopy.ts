/**
 * `Workspaces` that are copies of the folder a task works in, all of it, whatever a version control system thinks of it. A copy in which
 * nothing was changed is removed; the others stay where they are.
 *
 * Whether something was changed is told by the names, sizes, modes and times of what is in it, so a file that was written again with the
 * same content counts.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createHash } from "node:crypto"
import { constants, existsSync } from "node:fs"
import * as Fs from "node:fs/promises"
import { isAbsolute, join, relative } from "node:path"
import * as TaskFolder from "./TaskFolder.ts"
import { WorkspaceError, Workspaces } from "./Workspaces.ts"

export interface Options {
  /** Where the copies are made. Absolute. */
  readonly root: string
}

const attempt = <A>(what: string, run: () => Promise<A>): Effect.Effect<A, WorkspaceError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) =>
      new WorkspaceError({
        code: "WORKSPACE_FAILED",
        message: `cannot ${what}: ${cause instanceof Error ? cause.message : String(cause)}`,
        cause
      })
  })

/** Equal as long as nothing in the folder is changed. */
const stamp = async (folder: string): Promise<string> => {
  const hash = createHash("sha256")
  const walk = async (path: string): Promise<void> => {
    const entries = await Fs.readdir(path, { withFileTypes: true })
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const inner = join(path, entry.name)
      const { ctimeMs, ino, mode, mtimeMs, size } = await Fs.lstat(inner)
      // The times of a folder are those of its entries, which are looked at themselves.
      hash.update(JSON.stringify(entry.isDirectory() ? [inner, mode] : [inner, mode, size, ino, mtimeMs, ctimeMs]))
      if (entry.isDirectory()) await walk(inner)
    }
  }
  await walk(folder)
  return hash.digest("hex")
}

export const make = ({ root }: Options): Workspaces["Type"] =>
  Workspaces.of({
    check: (cwd) => {
      const inside = relative(cwd, root)
      return inside === "" || !(inside.startsWith("..") || isAbsolute(inside))
        ? new WorkspaceError({
            code: "WORKSPACE_FAILED",
            message: `copies of ${cwd} would be made in ${root}, which is inside of it; choose another home folder`
          })
        : Effect.void
    },
    open: (id, cwd) =>
      Effect.gen(function* () {
        const name = TaskFolder.nameOf(id)
        const folder = join(root, name)
        const known = existsSync(folder) ? TaskFolder.baseOf(root, name) : undefined
        const copy = async () => {
          await Fs.rm(folder, { recursive: true, force: true })
          await Fs.mkdir(root, { recursive: true, mode: 0o700 })
          const mode = constants.COPYFILE_FICLONE
          await Fs.cp(cwd, folder, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, mode })
          const made = await stamp(folder)
          TaskFolder.keepBase(root, name, made)
          return made
        }
        const before = known ?? (yield* Effect.uninterruptible(attempt(`copy ${cwd} to ${folder}`, copy)))
        const finish = Effect.gen(function* () {
          if ((yield* attempt(`look at ${folder}`, () => stamp(folder))) !== before) return folder
          yield* attempt(`remove ${folder}`, () => Fs.rm(folder, { recursive: true, force: true }))
          return undefined
        })
        return { cwd: folder, finish }
      })
  })

export const layer = (options: Options): Layer.Layer<Workspaces> => Layer.sync(Workspaces, () => make(options))
