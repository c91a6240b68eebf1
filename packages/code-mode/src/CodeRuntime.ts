/**
 * The seam to whatever runs a program that a model wrote. This module holds the contract only: no engine, no tool.
 */
import type { Json } from "@dsh/kernel/Json"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

/** Why a function that the program called has no value; the program may catch it. */
export class BindingError extends Data.TaggedError("BindingError")<{ readonly message: string }> {}

/** Functions that the program finds under one global name. */
export interface Bindings {
  /** An identifier. */
  readonly global: string
  /** By name; any name is an ordinary one. Started in the order of the calls; interrupted when the run ends first. */
  readonly functions: ReadonlyMap<string, (args: Json) => Effect.Effect<Json, BindingError>>
  /** The class of what a failed call rejects with, and its property that holds the name of the function. */
  readonly errorClass: string
  readonly errorMember: string
}

export interface CodeRun {
  /** The body of an async function in the language of the runtime. */
  readonly program: string
  readonly bindings: ReadonlyArray<Bindings>
}

/**
 * `exception`: it threw, or is no program; `timeout`: it computed or took too long; `abort`: the runtime was closed; `worker-exit`: what it
 * ran in died; `invalid-output`: what it returned is not JSON; `output-limit`: it gave out too much.
 */
export type CodeFailureKind = "exception" | "timeout" | "abort" | "worker-exit" | "invalid-output" | "output-limit"

export interface CodeFailure {
  readonly kind: CodeFailureKind
  readonly message: string
}

export interface CodeResult {
  /** What it returned, if anything. */
  readonly value?: Json
  /** What it printed, also when it was ended. */
  readonly logs: ReadonlyArray<string>
  /** A failed program is a result, too. */
  readonly error?: CodeFailure
}

export class CodeRuntime extends Context.Tag("@dsh/code-mode/CodeRuntime")<
  CodeRuntime,
  {
    /** What programs are written in; decides how functions are described to whoever writes them. */
    readonly language: string
    /** What keeps a program from the rest of the process, for people. */
    readonly isolation: string
    /** Runs a program to its end. Interruption ends it at once, and returns when nothing of it runs any more. */
    readonly run: (run: CodeRun) => Effect.Effect<CodeResult>
  }
>() {}
