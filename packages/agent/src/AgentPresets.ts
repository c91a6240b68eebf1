/**
 * The seam of agent presets: named sets of tools, prompt sections and hooks, side by side in one process.
 *
 * A preset is a realm. Agents that are created with it live in realms of their own inside it: they have what it has, and nobody else does.
 */
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { AgentError } from "./AgentError.ts"

export interface PresetInfo {
  /** Lower-case letters, digits and dashes. */
  readonly id: string
  readonly name: string
  readonly description: string | undefined
  /** `system`: part of the product. `user`: somebody's own. */
  readonly trust: "system" | "user"
  /** Absolute. */
  readonly folder: string
  /** Why it cannot be used, as far as that is known without starting it. */
  readonly problem: string | undefined
}

export class AgentPresets extends Context.Tag("@dsh/agent/AgentPresets")<
  AgentPresets,
  {
    /** What an agent is that names none. */
    readonly standing: string
    readonly list: Effect.Effect<ReadonlyArray<PresetInfo>, AgentError>
    /**
     * The services of a preset, started with the first agent that asks. A preset that was edited since is another one for those who
     * come later. Fails with `PRESET_UNAVAILABLE`.
     */
    readonly realm: (id: string) => Effect.Effect<Context.Context<never>, AgentError>
  }
>() {}

/** The preset that a session is of. */
export const of = (header: SessionHeader, presets: AgentPresets["Type"]): string =>
  header.agentPreset ?? presets.standing
