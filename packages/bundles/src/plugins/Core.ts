/**
 * The seams that everything hangs on, still empty, and the loop that runs over them.
 */
import * as AgentHooks from "@dsh/agent/AgentHooks"
import { AgentPresets } from "@dsh/agent/AgentPresets"
import { Agents } from "@dsh/agent/Agents"
import * as ModelSelection from "@dsh/agent/ModelSelection"
import * as AgentPresetsLocal from "@dsh/compose/AgentPresetsLocal"
import { Means } from "@dsh/compose/Compose"
import { Composition } from "@dsh/compose/Composition"
import { PresetLibrary } from "@dsh/compose/PresetLibrary"
import * as Plugin from "@dsh/kernel/Plugin"
import * as Llm from "@dsh/llm/Llm"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import { LoopConfig } from "@dsh/loop/LoopConfig"
import * as Assembly from "@dsh/prompt/Assembly"
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import { EventTypes } from "@dsh/session/EventTypes"
import * as Sessions from "@dsh/session/Sessions"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import * as Tools from "@dsh/tools/Tools"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Shipped from "../Shipped.ts"

const session = Plugin.make({
  name: "@dsh/session/Sessions",
  description: "The store of live sessions.",
  provides: [
    Sessions.Sessions,
    EventTypes,
    Sessions.SessionCreated,
    Sessions.SessionDisposed,
    Sessions.SessionFlush,
    Sessions.SessionRead,
    Sessions.SessionRestore
  ],
  layer: () => Sessions.layer
})

const llm = Plugin.make({
  name: "@dsh/llm/Llm",
  description: "The registry of models.",
  provides: [Llm.Llm, Llm.LlmStream, Llm.LlmAdaptersUpdated],
  layer: () => Llm.layer
})

const tools = Plugin.make({
  name: "@dsh/tools/Tools",
  description: "The registry of tools, and the stages of a call.",
  provides: [Tools.Tools, ...ToolHooks.points],
  layer: () => Layer.merge(Tools.layer, ToolHooks.layer)
})

const prompt = Plugin.make({
  name: "@dsh/prompt/SystemPrompt",
  description: "The registry of prompt sections, and their assembly.",
  provides: [SystemPrompt.SystemPrompt, Assembly.AssemblePrompt],
  layer: () => Layer.merge(SystemPrompt.layer, Assembly.AssemblePrompt.layer)
})

const agent = Plugin.make({
  name: "@dsh/agent/AgentHooks",
  description: "The extension points of an agent's life.",
  provides: [...AgentHooks.points, ModelSelection.ModelSelection],
  layer: () => Layer.merge(AgentHooks.layer, ModelSelection.layer)
})

const presets = Plugin.make({
  name: "@dsh/compose/AgentPresets",
  description: "The kinds of agents there are: those of the product, and the user's own.",
  config: Schema.Struct({
    standing: Schema.NonEmptyString.annotations({ description: "What an agent is that names none." }),
    folder: Schema.NonEmptyString.annotations({ description: "Where the user's are. Absolute." })
  }),
  provides: [AgentPresets, PresetLibrary],
  requires: [Composition, Means, FileSystem.FileSystem],
  layer: ({ folder, standing }) =>
    AgentPresetsLocal.layer({ standing, userFolder: folder, shipped: Shipped.presets, shippedFolder: Shipped.folder })
})

const loop = Plugin.make({
  name: "@dsh/loop/AgentLoop",
  description: "The agent loop.",
  config: Schema.Struct({
    maxParallelToolCalls: Schema.optionalWith(Schema.Int.pipe(Schema.positive()), { exact: true }).annotations({
      description: "How many tools of one step run at once. Default 10."
    }),
    defaultModel: Schema.optionalWith(
      Schema.Struct({ provider: Schema.NonEmptyString, model: Schema.NonEmptyString }),
      { exact: true }
    ).annotations({
      description: "What an agent uses for which nobody has chosen a model, and whose log knows of none."
    })
  }),
  provides: [Agents, LoopConfig],
  requires: [
    Sessions.Sessions,
    EventTypes,
    Sessions.SessionCreated,
    Sessions.SessionDisposed,
    Sessions.SessionFlush,
    Sessions.SessionRead,
    Sessions.SessionRestore,
    Llm.Llm,
    Llm.LlmStream,
    Tools.Tools,
    ...ToolHooks.points,
    SystemPrompt.SystemPrompt,
    Assembly.AssemblePrompt,
    ...AgentHooks.points,
    ModelSelection.ModelSelection
  ],
  uses: [AgentPresets],
  layer: (config) =>
    Layer.provideMerge(
      AgentLoop.layer,
      Layer.effect(
        LoopConfig,
        Effect.map(LoopConfig, (standing) => ({ ...standing, ...config }))
      )
    )
})

export const plugins = [session, llm, tools, prompt, agent, presets, loop]
