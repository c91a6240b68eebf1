/**
 * What the model is told beside its tools.
 */
import { PreStep } from "@dsh/agent/AgentHooks"
import * as AgentInstructions from "@dsh/context/AgentInstructions"
import * as FileReferencesPrompt from "@dsh/context/FileReferencesPrompt"
import * as Plugin from "@dsh/kernel/Plugin"
import { AssemblePrompt } from "@dsh/prompt/Assembly"
import { SystemPrompt } from "@dsh/prompt/SystemPrompt"
import * as SystemPrompts from "@dsh/prompt/SystemPrompt"
import { SandboxPolicy } from "@dsh/sandbox/SandboxPolicy"
import { Fs } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const exact = { exact: true } as const

const section = Plugin.make({
  name: "@dsh/prompt/PromptSection",
  description: "A part of the system prompt.",
  config: Schema.Struct({
    name: Schema.NonEmptyString.annotations({ description: "Unique among the sections." }),
    order: Schema.optionalWith(Schema.Number, { default: () => 0 }).annotations({
      description: "Identity -100, persona 0, tool guidance 100 to 199."
    }),
    text: Schema.String.annotations({ description: "May name {{model}}, {{provider}} and {{cwd}}." }),
    complete: Schema.optionalWith(Schema.Boolean, { default: () => false }).annotations({
      description: "It is the whole of what the model is told: no other section, and no runtime context."
    })
  }),
  requires: [SystemPrompt],
  layer: ({ complete, ...own }) => {
    const alone = SystemPrompts.layerSection({ ...own, complete })
    return complete
      ? Layer.merge(alone, Layer.scopedDiscard(Effect.flatMap(SystemPrompt, (prompt) => prompt.suppressContexts)))
      : alone
  }
})

const variables = Plugin.make({
  name: "@dsh/prompt/PromptVariables",
  description: "What sections may name: {{model}}, {{provider}} and {{cwd}}.",
  requires: [SystemPrompt],
  layer: () =>
    Layer.scopedDiscard(
      Effect.gen(function* () {
        const prompt = yield* SystemPrompt
        yield* prompt.variable("model", ({ model }) => model)
        yield* prompt.variable("provider", ({ provider }) => provider)
        yield* prompt.variable("cwd", ({ session }) => session.header.cwd)
      })
    )
})

const instructions = Plugin.make({
  name: "@dsh/context/AgentInstructions",
  description: "Tells the model what the AGENTS.md files of the user and the project say.",
  config: Schema.Struct({
    home: Schema.optionalWith(Schema.NonEmptyString, exact).annotations({
      description: "A folder whose AGENTS.md holds for every project. Absolute."
    }),
    maxBytes: Schema.optionalWith(Schema.NonNegativeInt, exact).annotations({
      description: "Of what one message quotes. 0: no instructions at all. Default 65 536."
    })
  }),
  requires: [PreStep, Fs],
  uses: [SandboxPolicy],
  layer: AgentInstructions.layer
})

const fileReferences = Plugin.make({
  name: "@dsh/context/FileReferencesPrompt",
  description: "Tells the model what @path in a message means.",
  requires: [SystemPrompt, AssemblePrompt],
  layer: () => FileReferencesPrompt.layer
})

export const plugins = [section, variables, instructions, fileReferences]
