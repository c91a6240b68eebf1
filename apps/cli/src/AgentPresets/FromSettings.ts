/**
 * The part of finding the preset of a new session that is only loaded where there may be settings.
 */
import * as AgentSettings from "@dsh/agent/AgentSettings"
import * as SettingsFile from "@dsh/settings/SettingsFile"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

export const read = (folder: string) =>
  Effect.flatMap(SettingsFile.make({ folder }), (settings) => settings.get(AgentSettings.presets)).pipe(
    Effect.map((presets) => Option.getOrUndefined(presets)?.default),
    Effect.provide(NodeFileSystem.layer)
  )
