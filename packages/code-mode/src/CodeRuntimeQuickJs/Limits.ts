/**
 * What a program may take before it is ended.
 */
export interface Limits {
  /** Busy time of its thread, in milliseconds. */
  readonly computeMs: number
  /** From start to end, waiting for tools included, in milliseconds. */
  readonly maxWallMs: number
  /** Of everything it gives out. A line of a log counts for 64 bytes besides its text. */
  readonly maxOutputBytes: number
  /** Of the engine and all that is in it; 16 MiB at least. */
  readonly maxMemoryBytes: number
  /** Of stack inside the engine. */
  readonly maxStackBytes: number
  /** Of heap for what is around the engine. */
  readonly maxOldGenerationSizeMb: number
  /** Calls that wait for an answer, and the length of their arguments together. */
  readonly maxPendingCalls: number
  readonly maxPendingBytes: number
}

const mebibyte = 1_048_576

export const defaults: Limits = {
  computeMs: 60_000,
  maxWallMs: 600_000,
  maxOutputBytes: 64 * mebibyte,
  maxMemoryBytes: 256 * mebibyte,
  maxStackBytes: mebibyte / 2,
  maxOldGenerationSizeMb: 512,
  maxPendingCalls: 1000,
  maxPendingBytes: 64 * mebibyte
}
