/**
 * Who the agent of the command line is told to be.
 */
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const identity = "You run in dsh, the Effect edition of DeepSeek Harness."

const persona =
  "You are {{model}}, a coding agent. You work in the folder {{cwd}}, alone: nobody answers questions while you work. " +
  "Look before you change anything, change no more than the task asks for, check that your change does what it should, " +
  "and finish with a short account of what you did."

const variable = (name: string, value: SystemPrompt.Variable) =>
  Layer.scopedDiscard(Effect.flatMap(SystemPrompt.SystemPrompt, (prompt) => prompt.variable(name, value)))

export const layer = Layer.mergeAll(
  variable("model", ({ model }) => model),
  variable("provider", ({ provider }) => provider),
  variable("cwd", ({ session }) => session.header.cwd),
  SystemPrompt.layerSection({ name: "harness:identity", order: -100, text: identity }),
  SystemPrompt.layerSection({ name: "deployment:persona", order: 0, text: persona })
)
