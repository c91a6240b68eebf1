/**
 * The part of reading them that is only loaded where there are settings.
 */
import * as AgentSettings from "@dsh/agent/AgentSettings"
import * as SettingsFile from "@dsh/settings/SettingsFile"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

export const read = (folder: string) =>
  Effect.gen(function* () {
    const settings = yield* SettingsFile.make({ folder })
    const model = yield* settings.get(AgentSettings.defaultModel)
    const loop = yield* settings.get(AgentSettings.loop)
    return {
      model: Option.getOrElse(model, (): typeof AgentSettings.defaultModel.schema.Type => ({})),
      loop: Option.getOrElse(loop, (): typeof AgentSettings.loop.schema.Type => ({}))
    }
  }).pipe(Effect.provide(NodeFileSystem.layer))
