/**
 * What a command line asks for, with types. Both lanes produce it and `Dispatch` runs it.
 */
import type { Parsed } from "./Argv.ts"

export interface Run {
  readonly _tag: "Run"
  /** The words of the task; none means that the task comes from stdin. */
  readonly words: ReadonlyArray<string>
  readonly model: string | undefined
}

export interface MockLlm {
  readonly _tag: "MockLlm"
  /** 0 takes any free port. */
  readonly port: number
  /** Path of a scenario file. Without one, every request succeeds. */
  readonly scenario: string | undefined
}

export type Request =
  | Run
  | { readonly _tag: "Demo" }
  | { readonly _tag: "SessionList" }
  | { readonly _tag: "SessionShow"; readonly id: string }
  | { readonly _tag: "SessionVerify"; readonly id: string }
  | MockLlm

/** The short lane: `dsh run` is understood without loading `@effect/cli`, which would double its start-up time. */
export const fastLane = (parsed: Parsed): Request | undefined =>
  parsed._tag === "Invocation" && parsed.command === "run"
    ? { _tag: "Run", words: parsed.words, model: parsed.options["--model"] }
    : undefined
