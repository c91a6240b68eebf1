/**
 * What a batch has begun and what it has finished, so that another process can go on where one ended.
 *
 * This module is the contract and the journal in memory. What is durable, and when, is up to the provider.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { BatchError } from "./BatchError.ts"
import type { BatchResult } from "./BatchResult.ts"

/** An agent is set to a task. */
export interface Started {
  readonly id: string
  /** Of the task, see `BatchTask.digest`. */
  readonly digest: string
  /** From 1. */
  readonly attempt: number
  readonly sessionId: string
  /** The message that it was set to it with. */
  readonly messageId: string
  /** The seq of the session from which on its events are about the task. */
  readonly from: number
}

export interface Known {
  readonly digest: string
  /** The last of them. */
  readonly started?: Started
  /** Whether there is a result that stands. One that was cancelled does not. */
  readonly isFinished: boolean
}

export class BatchJournal extends Context.Tag("@dsh/batch/BatchJournal")<
  BatchJournal,
  {
    /** What is known of a task from before, in this process or another. */
    readonly of: (id: string) => Known | undefined
    /** Completes when a process that ends here has said so. */
    readonly started: (started: Started) => Effect.Effect<void, BatchError>
    /** Completes when the result survives whatever comes. */
    readonly finished: (digest: string, result: BatchResult) => Effect.Effect<void, BatchError>
  }
>() {}

/** Takes in what happens, and answers for it. */
export const index = () => {
  const known = new Map<string, Known>()
  return {
    of: (id: string) => known.get(id),
    start: (started: Started) => void known.set(started.id, { digest: started.digest, started, isFinished: false }),
    finish: (digest: string, { id, status }: Pick<BatchResult, "id" | "status">) => {
      const started = known.get(id)?.started
      const isFinished = status !== "cancelled"
      known.set(id, { digest, isFinished, ...(started !== undefined && { started }) })
    }
  }
}

export const layerMemory: Layer.Layer<BatchJournal> = Layer.sync(BatchJournal, () => {
  const { finish, of, start } = index()
  return BatchJournal.of({
    of,
    started: (started) => Effect.sync(() => start(started)),
    finished: (digest, result) => Effect.sync(() => finish(digest, result))
  })
})
