// Agents in memory over a scripted model whose answers depend on what it is asked, with their sessions kept.
import * as BudgetsPerTree from "@dsh/agent/BudgetsPerTree"
import { ModelPrices } from "@dsh/agent/Budgets"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import type { LlmRequest } from "@dsh/llm/LlmAdapter"
import { LlmError } from "@dsh/llm/LlmError"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import * as PersistenceMemory from "@dsh/persistence/PersistenceMemory"
import * as WriteBehind from "@dsh/persistence/WriteBehind"
import { textOf } from "@dsh/protocol/Block"
import type { PriceTable } from "@dsh/protocol/Prices"
import * as Tool from "@dsh/tools/Tool"
import * as Tools from "@dsh/tools/Tools"
import * as CommandEnv from "@dsh/shell/CommandEnv"
import { Effect, Layer, Schema } from "effect"
import type * as Batch from "@dsh/batch/Batch"
import type { BatchTask } from "@dsh/batch/BatchTask"

export const { Reply } = LlmScripted

export const usage = { inputTokens: 60, cacheReadTokens: 30, outputTokens: 10 }

/** A request of `usage` costs 1 USD. */
export const prices: PriceTable = new Map([
  [
    `${LlmScripted.provider}/${LlmScripted.model}`,
    [{ from: 0, currency: "USD", input: 1_000_000 / 90, cacheRead: 1_000_000 / 90, cacheWrite: 0, output: 0 }]
  ]
])

const tellsEnv = Tool.make({
  name: "env",
  description: "Tells a variable.",
  parameters: Schema.Struct({ name: Schema.String }),
  output: Schema.String,
  execute: ({ name }) => Effect.map(CommandEnv.AgentEnv, (env) => env[name] ?? "(unset)"),
  render: (_, value) => value
})

/** What the model was asked last. */
export const asked = ({ messages }: LlmRequest): string => textOf(messages.at(-1)?.content ?? [])

export const failure = (code: string) => Reply.fail(new LlmError({ code, message: `it says ${code}` }))

/** @param reply Says what the model answers. */
export const world = (reply: (request: LlmRequest) => LlmScripted.Reply.Reply) =>
  Tools.layerTool(tellsEnv).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        AgentLoop.layer,
        LlmScripted.layer(Array.from({ length: 500 }, () => Reply.from(reply))),
        BudgetsPerTree.layer().pipe(Layer.provide(Layer.succeed(ModelPrices, prices)))
      )
    ),
    Layer.provideMerge(WriteBehind.layer),
    Layer.provideMerge(Layer.merge(Definitions.layer, PersistenceMemory.layer))
  )

export const options: Batch.Options = {
  cwd: "/project",
  model: { provider: LlmScripted.provider, model: LlmScripted.model }
}

export const task = (id: string, more: Partial<BatchTask> = {}): BatchTask => ({ id, task: `do ${id}`, ...more })
