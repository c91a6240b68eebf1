/**
 * What the settings say of every run: which model it uses, and how many tools at once.
 */
import * as LlmDeepSeek from "@dsh/llm/LlmDeepSeek"
import { suggest } from "@dsh/kernel/Nearest"
import * as Effect from "effect/Effect"
import * as Failure from "./Failure.ts"
import * as HomeFolder from "./HomeFolder.ts"

export interface DefaultModel {
  readonly provider: string
  readonly model: string
  /** Of that model; another one has its own. */
  readonly reasoningEffort?: string
}

export interface RunSettings {
  readonly defaultModel: DefaultModel
  readonly maxParallelToolCalls: number | undefined
}

/** What a new agent uses when neither the command line nor the settings name a model. */
export const shipped: DefaultModel = { provider: LlmDeepSeek.provider, model: "deepseek-v4-flash" }

/** The providers that are served here. */
const providers = [LlmDeepSeek.provider]

/** Fails with exit code 3. */
export const load: Effect.Effect<RunSettings, Failure.Failure> = Effect.gen(function* () {
  const folder = yield* HomeFolder.withSettings
  if (folder === undefined) return { defaultModel: shipped, maxParallelToolCalls: undefined }
  const { read } = yield* Effect.promise(() => import("./RunSettings/FromSettings.ts"))
  const { loop, model } = yield* Effect.mapError(read(folder), ({ code, message }) =>
    Failure.configuration(code, message)
  )
  const defaultModel = { ...shipped, ...model }
  if (!providers.includes(defaultModel.provider)) {
    return yield* Failure.configuration(
      "INVALID_CONFIG",
      `agent-default-model.provider in the settings under ${folder} is "${defaultModel.provider}"; ${suggest(defaultModel.provider, providers)}`
    )
  }
  return { defaultModel, maxParallelToolCalls: loop.maxParallelToolCalls }
})
