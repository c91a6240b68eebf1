/**
 * What an agent is that names no preset, as users keep it in their settings:
 *
 *   agent-presets:
 *     default: minimal
 *
 * Only loaded where there may be settings.
 */
import type { Section } from "@dsh/settings/Settings"
import * as SettingsFile from "@dsh/settings/SettingsFile"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

const AgentPresets = Schema.Struct({ default: Schema.optional(Schema.NonEmptyString) })

const section: Section<typeof AgentPresets.Type, typeof AgentPresets.Encoded> = {
  name: "agent-presets",
  schema: AgentPresets
}

export const read = (folder: string) =>
  Effect.flatMap(SettingsFile.make({ folder }), (settings) => settings.get(section)).pipe(
    Effect.map((presets) => Option.getOrUndefined(presets)?.default),
    Effect.provide(NodeFileSystem.layer)
  )
