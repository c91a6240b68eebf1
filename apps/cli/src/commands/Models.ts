/**
 * `dsh models`: the models of the providers that are served here, as far as they are known, and which one a new session uses.
 */
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as Llm from "@dsh/llm/Llm"
import type { ModelInfo } from "@dsh/llm/LlmAdapter"
import * as LlmDeepSeek from "@dsh/llm/LlmDeepSeek"
import * as Prices from "@dsh/protocol/Prices"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Failure from "../Failure.ts"
import { Output } from "../Output.ts"
import * as PriceTable from "../PriceTable.ts"
import * as RunSettings from "../RunSettings.ts"

// A catalog is read without a connection.
const adapters = LlmDeepSeek.layer({ connection: Effect.dieMessage("a list of models asks nobody") }).pipe(
  Layer.provideMerge(Llm.layer),
  Layer.provide(HttpClientNode.layer)
)

/** What each provider serves. */
export const catalog = Effect.flatMap(Llm.Llm, (llm) =>
  Effect.flatMap(llm.providers, (providers) => Effect.forEach(providers, ({ id }) => llm.models(id)))
).pipe(Effect.provide(adapters), Effect.mapError(Failure.fromError))

export const run = (json: boolean): Command =>
  Effect.gen(function* () {
    const { defaultModel } = yield* RunSettings.load
    const prices = yield* PriceTable.load
    const time = yield* Clock.currentTimeMillis
    const known = (yield* catalog).flat()
    const isDefault = ({ id, provider }: Pick<ModelInfo, "provider" | "id">) =>
      provider === defaultModel.provider && id === defaultModel.model
    // A model that the catalog does not know can be used all the same.
    const { model: id, provider } = defaultModel
    const models = known.some(isDefault) ? known : [...known, { provider, id, name: id }]
    const output = yield* Output
    yield* output.print(
      models
        .map((model) => {
          const price = Prices.at(prices, { provider: model.provider, model: model.id, time })
          return (json ? toJson : toText)(model, {
            isDefault: isDefault(model),
            effort: isDefault(model) ? defaultModel.reasoningEffort : undefined,
            price
          })
        })
        .join("\n")
    )
    return ExitCode.completed
  })

interface More {
  readonly isDefault: boolean
  /** What the settings say instead of the model's own. */
  readonly effort: string | undefined
  readonly price: Prices.Price | undefined
}

const toJson = (model: ModelInfo, { effort, isDefault, price }: More): string =>
  JSON.stringify({
    provider: model.provider,
    id: model.id,
    name: model.name,
    default: isDefault,
    contextWindow: model.contextWindow ?? null,
    maxTokens: model.defaultMaxTokens ?? null,
    efforts: model.reasoning?.efforts ?? [],
    defaultEffort: effort ?? model.reasoning?.defaultEffort ?? null,
    inputModalities: model.inputModalities ?? null,
    price:
      price === undefined
        ? null
        : {
            currency: price.currency,
            input: price.input,
            cacheRead: price.cacheRead,
            cacheWrite: price.cacheWrite,
            output: price.output
          }
  })

const toText = (model: ModelInfo, { effort, isDefault, price }: More): string => {
  const { contextWindow, reasoning } = model
  const standard = effort ?? reasoning?.defaultEffort
  const parts = [
    ...(contextWindow === undefined ? [] : [`context ${contextWindow} tokens`]),
    ...(reasoning === undefined
      ? []
      : [`effort ${reasoning.efforts.map((one) => (one === standard ? `${one} (default)` : one)).join(", ")}`]),
    ...(price === undefined ? [] : [`${price.input} in, ${price.output} out (${price.currency} per million tokens)`])
  ]
  return `${isDefault ? "*" : " "} ${model.provider}/${model.id}${parts.length === 0 ? "" : `: ${parts.join("; ")}`}`
}
