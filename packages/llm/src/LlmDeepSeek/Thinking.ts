/**
 * How hard the model thinks: effort names of a call, and what they become on the wire.
 */
import * as Effect from "effect/Effect"
import type { Profile } from "../ChatCompletions.ts"
import type { Purpose } from "../LlmAdapter.ts"
import { LlmError } from "../LlmError.ts"

const efforts = ["off", "low", "high", "max"] as const

export type Effort = (typeof efforts)[number]

export interface Mode {
  readonly effort: Effort
  readonly profile: Profile
}

export interface Policy {
  /** What a call may ask for. */
  readonly efforts: ReadonlyArray<Effort>
  readonly defaultEffort: Effort
  /** Fails with `UNSUPPORTED_REASONING_EFFORT`. */
  readonly resolve: (effort: string | undefined, purpose: Purpose) => Effect.Effect<Mode, LlmError>
}

/** `thinking: disabled` is a lock of the deployment: it leaves `off` as the only effort. */
export const policy = (settings: {
  readonly thinking?: "enabled" | "disabled"
  readonly reasoningEffort?: Effort
}): Policy => {
  const locked = settings.thinking === "disabled"
  const offered: ReadonlyArray<Effort> = locked ? ["off"] : efforts
  const defaultEffort = locked ? "off" : (settings.reasoningEffort ?? "high")
  return {
    efforts: offered,
    defaultEffort,
    resolve: (asked, purpose) => {
      // A title is worth no thought.
      if (purpose === "session-title") return Effect.succeed(mode("off"))
      const effort = asked === undefined ? defaultEffort : offered.find((known) => known === asked)
      return effort === undefined
        ? Effect.fail(unsupported(asked ?? "", offered, locked))
        : Effect.succeed(mode(effort))
    }
  }
}

const mode = (effort: Effort): Mode =>
  effort === "off"
    ? { effort, profile: { thinking: "disabled" } }
    : { effort, profile: { thinking: "enabled", reasoningEffort: effort } }

const unsupported = (asked: string, offered: ReadonlyArray<Effort>, locked: boolean): LlmError =>
  new LlmError({
    code: "UNSUPPORTED_REASONING_EFFORT",
    message:
      `DeepSeek does not offer the reasoning effort "${asked}"` +
      (locked ? ", because thinking is disabled in its settings" : "") +
      `; choose ${offered.join(", ")}`
  })
