/**
 * What kind of agent a run is: what the command line says, else what its session is, else what the settings say, else the composition.
 */
import { AgentPresets } from "@dsh/agent/AgentPresets"
import * as Presets from "@dsh/agent/AgentPresets"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Failure from "../Failure.ts"
import * as HomeFolder from "../HomeFolder.ts"

export interface Choice {
  readonly id: string
  /** `flag`: asked for. `settings`: of new sessions only. */
  readonly by: "flag" | "settings"
}

/** Nothing when it is for the composition to say. */
export const resolve = (flag: string | undefined): Effect.Effect<Choice | undefined, Failure.Failure> =>
  Effect.gen(function* () {
    if (flag !== undefined) return { id: flag, by: "flag" } as const
    const folder = yield* HomeFolder.withSettings
    if (folder === undefined) return undefined
    const { read } = yield* Effect.promise(() => import("./FromSettings.ts"))
    const id = yield* Effect.mapError(read(folder), ({ code, message }) => Failure.configuration(code, message))
    return id === undefined ? undefined : ({ id, by: "settings" } as const)
  })

/** A session is what it was begun as: its tools are part of what its model remembers. */
export const kept = (header: SessionHeader, choice: Choice | undefined): Effect.Effect<void, Failure.Failure> =>
  Effect.gen(function* () {
    if (choice?.by !== "flag") return
    const presets = yield* Effect.serviceOption(AgentPresets)
    const preset = Option.isSome(presets) ? Presets.of(header, presets.value) : header.agentPreset
    if (preset === choice.id) return
    return yield* Failure.usage(
      `session ${header.id} is of the preset "${preset ?? "none"}" and stays so; leave out --preset, or start a new session`
    )
  })

/** The failure of a session that could not be of its preset. */
export const unavailable = (message: string, choice: Choice | undefined): Failure.Failure =>
  Failure.configuration(
    "PRESET_UNAVAILABLE",
    choice?.by === "settings" ? `${message} (it is agent-presets.default in the settings)` : message
  )
