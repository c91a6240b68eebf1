/**
 * An agent on Claude by way of @effect/ai: any language model of that library is a model of ours.
 */
import { Agents } from "@dsh/agent/Agents"
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as LlmEffectAi from "@dsh/llm-effect-ai/LlmEffectAi"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import { textOf } from "@dsh/protocol/Block"
import * as Tool from "@dsh/tools/Tool"
import * as Tools from "@dsh/tools/Tools"
import * as AnthropicClient from "@effect/ai-anthropic/AnthropicClient"
import * as AnthropicLanguageModel from "@effect/ai-anthropic/AnthropicLanguageModel"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const weather = Tool.make({
  name: "weather",
  description: "Tells the weather of a town.",
  parameters: Schema.Struct({ town: Schema.String }),
  output: Schema.String,
  execute: ({ town }) => Effect.succeed(`It rains in ${town}.`),
  render: (_, value) => value
})

/** The key is read from `ANTHROPIC_API_KEY` with every request; the library never sees it. */
const claude = (apiUrl: string | undefined) =>
  LlmEffectAi.layerConfig({
    provider: "claude",
    keyName: "ANTHROPIC_API_KEY",
    model: ({ config: { maxTokens = 32_000, model, temperature } }) =>
      AnthropicLanguageModel.layer({ model, config: { max_tokens: maxTokens, temperature } }).pipe(
        Layer.provide(AnthropicClient.layer({ apiUrl }))
      )
  })

const program = Effect.gen(function* () {
  const agents = yield* Agents
  const agent = yield* agents.create({ provider: "claude", model: "claude-sonnet-4-5" })
  const { reason } = yield* Effect.flatMap(agent.followup("Do I need an umbrella in Oslo?"), agent.awaitTurn)
  const answer = agent.session.conversation.messages.at(-1)
  return { ended: reason.kind, answer: answer === undefined ? "" : textOf(answer.content) }
})

/** Without an address this asks Anthropic. */
export const main = (apiUrl?: string) =>
  program.pipe(
    Effect.scoped,
    Effect.provide(
      Layer.merge(AgentLoop.layer, Tools.layerTool(weather)).pipe(
        Layer.provide(Layer.provide(claude(apiUrl), HttpClientNode.layer)),
        Layer.provideMerge(Definitions.layer)
      )
    )
  )
