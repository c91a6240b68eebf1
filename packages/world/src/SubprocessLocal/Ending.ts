/**
 * Ending a process tree: SIGTERM, grace, SIGKILL. Processes live in real time, whatever clock the caller runs under.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { ProcessTree } from "./ProcessTree.ts"

// A process in an uninterruptible system call outlives SIGKILL; nobody waits for it longer than this.
const killMs = 2000
const longestPauseMs = 50

/** Runs `effect` by the wall clock even under a test clock: what it waits for is the operating system. */
export const inRealTime: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.withClock(
  Clock.make()
)

/** Asks, waits up to `graceMs`, then forces. Returns when nothing is left. */
export const end = (tree: ProcessTree, graceMs: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    tree.signal("SIGTERM")
    if (!(yield* goneWithin(tree, graceMs))) yield* kill(tree)
  }).pipe(inRealTime)

/** Forces at once. Returns when nothing is left. */
export const kill = (tree: ProcessTree): Effect.Effect<void> =>
  Effect.suspend(() => {
    tree.signal("SIGKILL")
    return Effect.asVoid(goneWithin(tree, killMs))
  }).pipe(inRealTime)

const goneWithin = Effect.fnUntraced(function* (tree: ProcessTree, millis: number) {
  const deadline = (yield* Clock.currentTimeMillis) + millis
  for (let pause = 1; tree.isAlive(); pause = Math.min(pause * 2, longestPauseMs)) {
    const left = deadline - (yield* Clock.currentTimeMillis)
    if (left <= 0) return false
    yield* Effect.sleep(Math.min(pause, left))
  }
  return true
})
