/**
 * What ends a whole batch. What goes wrong with one task is in the result of that task.
 */
import * as Data from "effect/Data"

export class BatchError extends Data.TaggedError("BatchError")<{
  readonly code:
    /** An option makes no sense. */
    | "INVALID_OPTIONS"
    /** The composition lacks what a task asks for. */
    | "NOT_SUPPORTED"
    /** Another process works on this batch. */
    | "BATCH_IN_USE"
    /** There are results already, and nobody said to go on from them. */
    | "BATCH_EXISTS"
    /** The journal cannot be understood. */
    | "JOURNAL_CORRUPT"
    | "JOURNAL_FAILED"
    /** Tasks are not what they were when the batch was begun. */
    | "TASKS_CHANGED"
  readonly message: string
  readonly cause?: unknown
}> {}
