/**
 * Where the folders are that tasks have to themselves.
 */
import type { BatchTask } from "@dsh/batch/BatchTask"
import type { Problem } from "@dsh/batch/TaskFile"
import type { Workspaces } from "@dsh/batch/Workspaces"
import { suggest } from "@dsh/kernel/Nearest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { readdirSync, rmSync } from "node:fs"
import { join, resolve } from "node:path"
import * as Failure from "../Failure.ts"
import * as HomeFolder from "../HomeFolder.ts"
import type { Isolation } from "./Results.ts"

const ways: ReadonlyArray<Isolation> = ["none", "copy", "worktree"]

/** Fails with exit code 2. */
export const parse = (typed: string | undefined): Effect.Effect<Isolation | undefined, Failure.Failure> => {
  const way = ways.find((known) => known === typed)
  return typed === undefined || way !== undefined
    ? Effect.succeed(way)
    : Failure.usage(`--isolate takes one of ${ways.join(", ")}, not "${typed}"; ${suggest(typed, ways)}`)
}

export interface Isolated {
  readonly workspaces: Workspaces["Type"] | undefined
  /** Above all of them. */
  readonly root: string | undefined
}

export const make = (way: Isolation, batch: string): Effect.Effect<Isolated> =>
  Effect.gen(function* () {
    if (way === "none") return { workspaces: undefined, root: undefined }
    const root = join(yield* HomeFolder.home, "batch", batch)
    if (way === "copy") {
      const copies = yield* Effect.promise(() => import("@dsh/batch/WorkspacesCopy"))
      return { workspaces: copies.make({ root }), root }
    }
    const worktrees = yield* Effect.promise(() => import("@dsh/batch/WorkspacesWorktree"))
    return { workspaces: yield* worktrees.make({ root }), root }
  })

/** What is wrong about the folders that would be made from those of the tasks. */
export const check = (
  { workspaces }: Isolated,
  tasks: ReadonlyArray<BatchTask>,
  cwd: string
): Effect.Effect<ReadonlyArray<Problem>> =>
  Effect.gen(function* () {
    if (workspaces === undefined) return []
    const known = new Map<string, string | undefined>()
    const problems: Array<Problem> = []
    for (const { cwd: typed, line = 0 } of tasks) {
      const path = resolve(cwd, typed ?? ".")
      if (!known.has(path)) {
        const checked = yield* Effect.either(workspaces.check(path))
        known.set(path, Either.isLeft(checked) ? checked.left.message : undefined)
      }
      const reason = known.get(path)
      if (reason !== undefined) problems.push({ line, reason })
    }
    return problems
  })

/** Removes the folder above, when nothing is kept in it. */
export const tidy = ({ root }: Isolated): Effect.Effect<void> =>
  Effect.sync(() => {
    if (root === undefined) return
    try {
      if (readdirSync(root).every((name) => name === ".base")) rmSync(root, { recursive: true, force: true })
    } catch {
      // There was none.
    }
  })
