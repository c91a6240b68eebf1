/**
 * `/model`: which model goes on from the next request.
 */
import type { Agent } from "@dsh/agent/Agent"
import { ModelSelection } from "@dsh/agent/ModelSelection"
import type { Selection } from "@dsh/agent/ModelSelection"
import { Llm } from "@dsh/llm/Llm"
import type { ModelInfo } from "@dsh/llm/LlmAdapter"
import * as Effect from "effect/Effect"
import * as Commands from "./Commands.ts"
import type { Result } from "./Commands.ts"

/** What is used now; nothing before anybody has said. */
export const current = (agent: Agent, selection: ModelSelection["Type"]): Partial<Selection> =>
  selection.get(agent) ?? agent.session.conversation.header?.config ?? agent.options

/** Those of every provider that is served. */
export const known: Effect.Effect<ReadonlyArray<ModelInfo>, never, Llm> = Effect.gen(function* () {
  const llm = yield* Llm
  const providers = yield* llm.providers
  const models = yield* Effect.forEach(providers, ({ id }) =>
    // A list is advice: one that cannot be had now is shorter.
    Effect.orElseSucceed(llm.models(id), () => [])
  )
  return models.flat()
})

const listing = (models: ReadonlyArray<ModelInfo>, now: Partial<Selection>): string => {
  const isCurrent = ({ id, provider }: ModelInfo) => id === now.model && provider === (now.provider ?? provider)
  return [
    ...(now.model === undefined || models.some(isCurrent) ? [] : [`* ${now.model}`]),
    ...models.map((model) => {
      const { id, provider, reasoning } = model
      const efforts = reasoning === undefined ? "" : ` (effort ${reasoning.efforts.join(", ")})`
      return `${isCurrent(model) ? "*" : " "} ${provider}/${id}${efforts}`
    })
  ].join("\n")
}

/** `[PROVIDER/]MODEL [EFFORT]`; a slash in front of which no provider stands belongs to the name of the model. */
const selectionOf = (input: string, providers: ReadonlyArray<string>, provider: string): Selection | undefined => {
  const [name = "", effort, ...more] = input.split(/\s+/)
  if (name === "" || more.length > 0) return undefined
  const named = providers.find((id) => name.startsWith(`${id}/`))
  return {
    provider: named ?? provider,
    model: named === undefined ? name : name.slice(named.length + 1),
    ...(effort !== undefined && { reasoningEffort: effort })
  }
}

export const layer = Commands.layerCommand({
  name: "model",
  description: "Say which model is used, or use another from the next request on.",
  input: { hint: "[[PROVIDER/]MODEL [EFFORT]]" },
  handler: ({ agent, rawInput }) =>
    Effect.gen(function* () {
      const selection = yield* ModelSelection
      const llm = yield* Llm
      const now = current(agent, selection)
      const models = yield* known
      if (rawInput.trim() === "") return { kind: "success", text: listing(models, now) } as const
      const providers = (yield* llm.providers).map(({ id }) => id)
      const wanted = selectionOf(rawInput.trim(), providers, now.provider ?? providers[0] ?? "")
      if (wanted === undefined) {
        return { kind: "error", text: "/model takes a model, and behind it how hard it is to think" } satisfies Result
      }
      const info = models.find(({ id, provider }) => id === wanted.model && provider === wanted.provider)
      const { reasoningEffort } = wanted
      const efforts = info?.reasoning?.efforts ?? []
      if (info !== undefined && reasoningEffort !== undefined && !efforts.includes(reasoningEffort)) {
        const text =
          efforts.length === 0
            ? `${info.id} has no efforts to choose from`
            : `the effort is one of ${efforts.join(", ")}`
        return { kind: "error", text } satisfies Result
      }
      yield* selection.set(agent, wanted)
      const unknown = info === undefined ? "; it is none of the models that are known here" : ""
      return { kind: "success", text: `${wanted.model} goes on from the next request${unknown}` } satisfies Result
    })
})
