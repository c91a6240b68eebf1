/**
 * Who the agent of the command line is told to be.
 */
import { SystemPrompt } from "@dsh/prompt/SystemPrompt"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const identity = "You run in dsh, the Effect edition of DeepSeek Harness."

const persona =
  "You are {{model}}, a coding agent. You work in the folder {{cwd}}, alone: nobody answers questions while you work. " +
  "Look before you change anything, change no more than the task asks for, check that your change does what it should, " +
  "and finish with a short account of what you did."

export const layer = Layer.scopedDiscard(
  Effect.gen(function* () {
    const prompt = yield* SystemPrompt
    yield* prompt.variable("model", ({ model }) => model)
    yield* prompt.variable("provider", ({ provider }) => provider)
    yield* prompt.variable("cwd", ({ session }) => session.header.cwd)
    yield* prompt.section({ name: "harness:identity", order: -100, text: identity })
    yield* prompt.section({ name: "deployment:persona", order: 0, text: persona })
  })
)
