/**
 * Every process tree that may still be running, so that none outlives the service, nor this process when it exits in a hurry.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Ending from "./Ending.ts"

export interface LiveTrees {
  readonly add: (tree: Ending.Tree) => void
  readonly remove: (tree: Ending.Tree) => void
  readonly isClosed: () => boolean
}

/** When the Scope closes all trees are killed, at once and together, and waited for. */
export const make: Effect.Effect<LiveTrees, never, Scope.Scope> = Effect.gen(function* () {
  const trees = new Set<Ending.Tree>()
  let closed = false

  const onExit = () => {
    for (const tree of trees) tree.signal("SIGKILL")
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => process.on("exit", onExit)),
    () => Effect.sync(() => process.off("exit", onExit))
  )
  yield* Effect.addFinalizer(() => {
    closed = true
    return Effect.forEach(trees, Ending.kill, { concurrency: "unbounded", discard: true })
  })
  return {
    add: (tree) => trees.add(tree),
    remove: (tree) => trees.delete(tree),
    isClosed: () => closed
  }
})
