/**
 * Who is told of changes to files before they happen, so that what was there can be kept. Ambient to a tool call like its confinement:
 * no tool has to pass it on, and none can forget it. Providers ask for it at the moment of the change; nobody there costs nothing.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

export interface Witness {
  /**
   * A file is about to get this content, or to come into being with it. Canonical path. Succeeds with what is to be run when that is
   * over, however it went.
   */
  readonly file: (path: string, bytes: Uint8Array) => Effect.Effect<Effect.Effect<void>>
  /**
   * A program is about to start that may change anything. `interactive`: it does so when it is told to, by its input. Succeeds with whom
   * to tell of its end.
   */
  readonly program: (
    kind: "interactive" | "busy"
  ) => Effect.Effect<(exit: Effect.Effect<unknown>) => Effect.Effect<void>>
}

/** Undefined: nobody is. */
export class ChangeWitness extends Context.Reference<ChangeWitness>()("@dsh/world/ChangeWitness", {
  defaultValue: (): Witness | undefined => undefined
}) {}
