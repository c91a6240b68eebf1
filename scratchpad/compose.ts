/**
 * Compose an agent from Layers: a model, a tool of our own, a system prompt, and the loop. Leave one out and it does not compile.
 */
import { Agents } from "@dsh/agent/Agents"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import { textOf } from "@dsh/protocol/Block"
import * as Tool from "@dsh/tools/Tool"
import * as Tools from "@dsh/tools/Tools"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const roll = Tool.make({
  name: "roll",
  description: "Rolls a die.",
  parameters: Schema.Struct({ sides: Schema.Int.annotations({ description: "Number of sides." }) }),
  output: Schema.Number,
  execute: ({ sides }) => Effect.succeed(sides),
  render: (_, value) => `rolled ${value}`
})

// Swap this one line for `LlmDeepSeek.layerConfig()` to talk to a real model.
const model = LlmScripted.layer([
  LlmScripted.Reply.calls([{ name: "roll", arguments: { sides: 6 } }]),
  LlmScripted.Reply.text("You rolled the highest number.")
])

export const world = AgentLoop.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      model,
      Tools.layerTool(roll),
      SystemPrompt.layerSection({ name: "persona", order: 0, text: "You are a croupier." })
    )
  ),
  Layer.provideMerge(Definitions.layer)
)

export const program = Effect.gen(function* () {
  const agents = yield* Agents
  const agent = yield* agents.create({ provider: LlmScripted.provider, model: LlmScripted.model })
  const { reason } = yield* Effect.flatMap(agent.followup("Roll a die for me."), agent.awaitTurn)
  const answer = agent.session.conversation.messages.at(-1)
  return { ended: reason.kind, answer: answer === undefined ? "" : textOf(answer.content) }
})

export const main = program.pipe(Effect.scoped, Effect.provide(world))
