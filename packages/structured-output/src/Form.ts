/**
 * What an answer has to be, so that a program can read it: what the model is told of that, and whether it kept to it.
 */
import * as Data from "effect/Data"

export interface Fits {
  readonly fits: true
  readonly value: unknown
  /** The value as it was written, and nothing around it. */
  readonly text: string
}

export interface Misfit {
  readonly fits: false
  /** What is wrong, in one sentence for people. */
  readonly message: string
  /** The same for the model, and what it is to do. */
  readonly complaint: string
}

export interface Form {
  /** Goes to the model with the task. */
  readonly instruction: string
  readonly judge: (answer: string) => Fits | Misfit
}

export class FormError extends Data.TaggedError("FormError")<{
  readonly code: "INVALID_OUTPUT_SCHEMA"
  readonly message: string
}> {}
