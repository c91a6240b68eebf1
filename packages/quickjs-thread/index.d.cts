/** The program of a worker thread that runs one program in QuickJS and posts `Frame`s about it. */
export const program: string

/** Functions that the program finds under one global name. */
export interface Namespace {
  readonly global: string
  readonly names: ReadonlyArray<string>
  /** The class of what a failed call rejects with, and its property that holds the name of the function. */
  readonly errorClass: string
  readonly errorMember: string
}

/** What it gets as `workerData`. */
export interface Job {
  /** The body of an async function in TypeScript whose types can be erased. */
  readonly code: string
  readonly namespaces: ReadonlyArray<Namespace>
  /** Of the engine and all that is in it; 16 MiB at least. */
  readonly maxMemoryBytes: number
  readonly maxStackBytes: number
  /** Of everything it gives out: its logs, and its value or failure. */
  readonly maxOutputBytes: number
  /** Calls that wait for an answer, and how long their arguments may be together. */
  readonly maxPendingCalls: number
  readonly maxPendingBytes: number
}

/** What it posts. After `done` or `failed` nothing counts. Values and arguments are JSON. */
export type Frame =
  | readonly ["log", text: string]
  | readonly ["call", id: number, global: string, name: string, args: string]
  | readonly ["done", value: string | null]
  | readonly ["failed", kind: "exception" | "invalid-output" | "output-limit", message: string]

/** The answer to a call: its value as JSON, or why it failed. */
export type Answer = readonly [id: number, isOk: boolean, text: string]
