/**
 * The part of reading prices that is only loaded where somebody looks at them.
 */
import * as PriceSettings from "@dsh/llm/PriceSettings"
import * as SettingsFile from "@dsh/settings/SettingsFile"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

export const read = (folder: string) =>
  Effect.flatMap(SettingsFile.make({ folder }), (settings) => settings.get(PriceSettings.section)).pipe(
    Effect.map(Option.map(PriceSettings.table)),
    Effect.provide(NodeFileSystem.layer)
  )
