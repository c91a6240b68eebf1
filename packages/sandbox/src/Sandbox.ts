/**
 * The confinement seam: a program and its arguments in, a program that runs them confined out. It fails closed: where nothing can
 * confine, nothing runs.
 */
import type { Confinement } from "@dsh/world/Confinement"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

export class SandboxError extends Data.TaggedError("SandboxError")<{
  readonly code: "SANDBOX_UNAVAILABLE"
  /** Says how to make it available, and how to do without it knowingly. */
  readonly message: string
  readonly cause?: unknown
}> {}

export interface Command {
  readonly argv: ReadonlyArray<string>
  /** Absolute, as whoever is confined sees it. */
  readonly cwd: string
}

/** A command that confines another. */
export interface Confined extends Command {
  /** On top of the command's own. */
  readonly env: Readonly<Record<string, string>>
  /** What the temporary folder of the confinement is called by the command. */
  readonly temp: string
}

/** How a confined command ended. */
export interface Ended {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** `denied`: it tried what it may not. `unavailable`: it was never run. */
export type Verdict =
  | { readonly kind: "ran" | "denied" }
  | { readonly kind: "unavailable"; readonly error: SandboxError }

export class Sandbox extends Context.Tag("@dsh/sandbox/Sandbox")<
  Sandbox,
  {
    /** Whether it keeps to all of a confinement, or to a part of it, as on a system that cannot do more. */
    readonly enforcement: "full" | "partial"
    /** Fails with `SANDBOX_UNAVAILABLE`. Never called for `danger-full-access`. */
    readonly confine: (command: Command, confinement: Confinement) => Effect.Effect<Confined, SandboxError>
    /** What the end of a confined command says about its confinement. */
    readonly judge: (ended: Ended) => Verdict
  }
>() {}

/** How to go on without confinement. */
export const remedy =
  "set DSH_PERMISSION_MODE=danger-full-access to run commands unconfined, if you know what that means"
