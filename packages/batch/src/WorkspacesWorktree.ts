/**
 * `Workspaces` that are linked worktrees of the repository a task works in, each at the commit that is checked out there, on no branch.
 *
 * Nothing of the user's is touched: not their branches, not their index, not their files, and no hook of theirs is run. What they have
 * not committed is not in a worktree. One in which something was changed or committed stays where it is; git knows of it, so what was
 * committed there is not lost, and `git worktree remove` takes it away.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { existsSync, mkdirSync, realpathSync, rmSync } from "node:fs"
import { join, relative } from "node:path"
import * as TaskFolder from "./TaskFolder.ts"
import { WorkspaceError, Workspaces } from "./Workspaces.ts"
import { git } from "./WorkspacesWorktree/Git.ts"

export interface Options {
  /** Where the worktrees are made. Absolute. */
  readonly root: string
}

const failed = (what: string) => (cause: WorkspaceError) =>
  new WorkspaceError({ code: cause.code, message: `${what}: ${cause.message}`, cause })

/** The repository of a folder, and the folder in it. */
const placeOf = (cwd: string) =>
  Effect.gen(function* () {
    const top = yield* git(cwd, ["rev-parse", "--show-toplevel"])
    const head = yield* git(cwd, ["rev-parse", "--verify", "HEAD^{commit}"])
    const real = yield* Effect.sync(() => realpathSync(cwd))
    return { top, head, inner: relative(top, real) }
  }).pipe(
    Effect.mapError(
      (cause) =>
        new WorkspaceError({
          code: "NOT_A_REPOSITORY",
          message: `${cwd} is in no git repository with a commit, so it has no worktrees (${cause.message}); use copies of the folder`,
          cause
        })
    )
  )

export const make = ({ root }: Options): Effect.Effect<Workspaces["Type"]> =>
  Effect.map(Effect.makeSemaphore(1), (lock) => {
    const add = (top: string, head: string, name: string) =>
      Effect.gen(function* () {
        const folder = join(root, name)
        // What is left of one that was not made to its end.
        yield* Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
        yield* git(top, ["worktree", "prune"])
        yield* Effect.sync(() => mkdirSync(root, { recursive: true, mode: 0o700 }))
        yield* git(top, ["worktree", "add", "--quiet", "--detach", folder, head])
        yield* Effect.sync(() => TaskFolder.keepBase(root, name, head))
      }).pipe(Effect.uninterruptible)

    const open: Workspaces["Type"]["open"] = (id, cwd) =>
      Effect.gen(function* () {
        const { head, inner, top } = yield* placeOf(cwd)
        const name = TaskFolder.nameOf(id)
        const folder = join(root, name)
        const known = existsSync(folder) ? TaskFolder.baseOf(root, name) : undefined
        const base = known ?? head
        if (known === undefined) {
          // Two at a time get in each other's way.
          yield* Effect.mapError(
            lock.withPermits(1)(add(top, head, name)),
            failed(`no worktree of ${top} could be made`)
          )
        }
        const work = join(folder, inner)
        if (!existsSync(work)) {
          return yield* new WorkspaceError({
            code: "WORKSPACE_FAILED",
            message: `${cwd} is not in the commit that is checked out; commit it, or use copies of the folder`
          })
        }
        const finish = Effect.gen(function* () {
          if ((yield* git(folder, ["rev-parse", "HEAD"])) !== base) return folder
          if ((yield* git(folder, ["status", "--porcelain", "--untracked-files=normal"])) !== "") return folder
          yield* Effect.uninterruptible(lock.withPermits(1)(git(top, ["worktree", "remove", folder])))
          return undefined
        })
        return { cwd: work, finish }
      })
    return Workspaces.of({ check: (cwd) => Effect.asVoid(placeOf(cwd)), open })
  })

export const layer = (options: Options): Layer.Layer<Workspaces> => Layer.effect(Workspaces, make(options))
