/**
 * Ending a process tree: SIGTERM, grace, SIGKILL. Processes live in real time, whatever clock the caller runs under.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

/** Processes that belong together. */
export interface Tree {
  /** Once false, false for ever. */
  readonly isAlive: () => boolean
  /** What cannot be signalled is left alone. */
  readonly signal: (signal: NodeJS.Signals) => void
}

/** What a service does with its trees. */
export interface Service {
  /** For what goes on after the owner of a tree is gone. */
  readonly watchers: Scope.Scope
  readonly trees: { readonly add: (tree: Tree) => void; readonly remove: (tree: Tree) => void }
}

export interface Ending {
  /** Ends the tree, however often it is run; returns when nothing is left. */
  readonly terminate: Effect.Effect<void>
  /** The same, but returns within a moment. */
  readonly release: Effect.Effect<void>
}

// How long giving a tree up may take before the rest of its ending is left to the service.
const promptMs = 150

// A process in an uninterruptible system call outlives SIGKILL; nobody waits for it longer than this.
const killMs = 2000
const longestPauseMs = 50

/** Runs `effect` by the wall clock even under a test clock: what it waits for is the operating system. */
export const inRealTime: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.withClock(
  Clock.make()
)

/** From here on the service knows of the tree. */
export const make = ({ trees, watchers }: Service, tree: Tree, graceMs: number): Effect.Effect<Ending> =>
  Effect.gen(function* () {
    trees.add(tree)
    // One ladder for everybody who wants the tree gone. It belongs to the service: its first caller may be interrupted.
    const ending = yield* end(tree, graceMs).pipe(
      Effect.ensuring(Effect.sync(() => trees.remove(tree))),
      Effect.interruptible,
      Effect.forkIn(watchers),
      Effect.cached
    )
    const terminate = ending.pipe(Effect.flatMap(Fiber.await), Effect.asVoid)
    return {
      terminate,
      release: Effect.suspend(() => {
        if (!tree.isAlive()) return Effect.sync(() => trees.remove(tree))
        // A finalizer cannot be interrupted, so the wait itself has to be, or the limit means nothing.
        return terminate.pipe(Effect.interruptible, Effect.timeoutOption(promptMs), inRealTime)
      })
    }
  })

/** Asks, waits up to `graceMs`, then forces. Returns when nothing is left. */
export const end = (tree: Tree, graceMs: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    tree.signal("SIGTERM")
    if (!(yield* goneWithin(tree, graceMs))) yield* kill(tree)
  }).pipe(inRealTime)

/** Forces at once. Returns when nothing is left. */
export const kill = (tree: Tree): Effect.Effect<void> =>
  Effect.suspend(() => {
    tree.signal("SIGKILL")
    return Effect.asVoid(goneWithin(tree, killMs))
  }).pipe(inRealTime)

const goneWithin = Effect.fnUntraced(function* (tree: Tree, millis: number) {
  const deadline = (yield* Clock.currentTimeMillis) + millis
  for (let pause = 1; tree.isAlive(); pause = Math.min(pause * 2, longestPauseMs)) {
    const left = deadline - (yield* Clock.currentTimeMillis)
    if (left <= 0) return false
    yield* Effect.sleep(Math.min(pause, left))
  }
  return true
})
