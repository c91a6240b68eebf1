/**
 * What one session has logged and storage does not have yet. Taking an entry in is a push on an array; one fiber does all the writing.
 *
 * A batch is written when its window ends (a fixed time after its first entry), when it is urgent, or when somebody flushes. A batch
 * that fails stays at the head, in order, and waits for the next entry or flush.
 *
 * Flushing is part of every step of an agent. It forks nothing: writer and timer live as long as the queue and sleep in between, and
 * whoever flushes sleeps until the writer, which an interruption of theirs does not stop, tells the outcome.
 */
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"
import { Bell } from "./Bell.ts"

export interface WriteQueue<E> {
  /** Takes an entry in. `urgent`: do not wait for the window to end. */
  readonly push: (entry: LogEntry, urgent: boolean) => void
  /** Waits until everything pushed so far, and meanwhile, is written. All who wait at once share one outcome. */
  readonly flush: Effect.Effect<void, E>
  /** How many entries are not written. */
  readonly size: () => number
}

export interface Options<E> {
  /** Length of the window in milliseconds. */
  readonly window: number
  readonly write: (batch: ReadonlyArray<LogEntry>) => Effect.Effect<void, E>
  /** Hears the failure of a write that nobody was waiting for. */
  readonly onFailure: (cause: Cause.Cause<E>, unwritten: number) => Effect.Effect<void>
}

/**
 * A queue that writes while the current Scope is open. Closing it does not flush, but waits for a write that is under way; whoever
 * still waits for another is interrupted.
 */
export const make = <E>(options: Options<E>): Effect.Effect<WriteQueue<E>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Effect.clock
    // Monotonic: a wall clock that is set back must not make a window last for hours.
    const now = () => Number(clock.unsafeCurrentTimeNanos()) / 1e6
    let queue: Array<LogEntry> = []
    let writing = false
    let closed = false
    let deadline: number | undefined
    let waiting: Array<(outcome: Exit.Exit<void, E>) => void> = []
    const windowOpened = new Bell()
    const due = new Bell()

    const timer = Effect.gen(function* () {
      while (true) {
        yield* windowOpened.heard
        windowOpened.silence()
        while (deadline !== undefined) {
          const left = Math.ceil(deadline - now())
          if (left <= 0) {
            due.ring()
            break
          }
          // A flush may end this window and a later entry begin another: then the loop goes on sleeping.
          yield* Effect.sleep(left)
        }
      }
    })

    const tell = (outcome: Exit.Exit<void, E>) => {
      const all = waiting
      waiting = []
      for (const resume of all) resume(outcome)
    }

    const written = () => {
      writing = false
      if (queue.length === 0) tell(Exit.void)
      // What came meanwhile has a window of its own, unless somebody waits for it.
      else if (waiting.length > 0) due.ring()
      return Effect.void
    }

    const failed = (batch: ReadonlyArray<LogEntry>) => (cause: Cause.Cause<E>) => {
      writing = false
      queue = batch.concat(queue)
      deadline = undefined
      const unnoticed = waiting.length === 0
      tell(Exit.failCause(cause))
      return unnoticed ? options.onFailure(cause, queue.length) : Effect.void
    }

    const write = () => {
      const batch = queue
      queue = []
      deadline = undefined
      writing = true
      return Effect.matchCauseEffect(
        Effect.suspend(() => options.write(batch)),
        // The whole cause: after a defect, too, somebody may be waiting for an answer.
        { onSuccess: written, onFailure: failed(batch) }
      )
    }

    const writer = Effect.gen(function* () {
      while (true) {
        yield* due.heard
        due.silence()
        if (closed) return
        if (queue.length > 0) yield* write()
      }
    })

    yield* Effect.addFinalizer(() => Effect.sync(() => tell(Exit.interrupt(FiberId.none))))
    yield* Effect.forkScoped(timer)
    // Never interrupted, for what was written and interrupted would look like not written: it is told to end, and awaited.
    yield* Effect.forkScoped(Effect.uninterruptible(writer))
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        closed = true
        due.ring()
      })
    )

    // No canceller: telling somebody who gave up waiting does nothing, and a canceller would cost more than all the rest.
    const told = Effect.async<void, E>((resume) => {
      waiting.push(resume)
      due.ring()
    })

    return {
      push: (entry, urgent) => {
        queue.push(entry)
        if (deadline === undefined) {
          deadline = now() + options.window
          windowOpened.ring()
        }
        if (urgent) due.ring()
      },
      flush: Effect.suspend(() => {
        if (queue.length === 0 && !writing) return Effect.void
        return closed ? Effect.interrupt : told
      }),
      size: () => queue.length
    }
  })
