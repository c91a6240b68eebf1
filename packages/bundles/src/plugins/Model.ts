/**
 * The model, and what happens around each request to it.
 */
import { AgentRequest, RequestError } from "@dsh/agent/AgentHooks"
import { Attachments } from "@dsh/attachments/Attachments"
import * as Plugin from "@dsh/kernel/Plugin"
import { Llm, LlmStream } from "@dsh/llm/Llm"
import * as LlmDeepSeek from "@dsh/llm/LlmDeepSeek"
import * as LlmOutputLimit from "@dsh/llm/LlmOutputLimit"
import * as LlmRepetition from "@dsh/llm/LlmRepetition"
import * as LlmRetry from "@dsh/llm/LlmRetry"
import * as RetryPolicy from "@dsh/llm/RetryPolicy"
import { EventTypes } from "@dsh/session/EventTypes"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { DeepSeekConnection } from "../DeepSeekConnection.ts"

const exact = { exact: true } as const

const deepSeek = Plugin.make({
  name: "@dsh/llm/LlmDeepSeek",
  description: "The DeepSeek API.",
  requires: [Llm, HttpClient.HttpClient, DeepSeekConnection],
  uses: [Attachments],
  layer: () => Layer.unwrapEffect(Effect.map(DeepSeekConnection, (connection) => LlmDeepSeek.layer({ connection })))
})

const outputLimit = Plugin.make({
  name: "@dsh/llm/LlmOutputLimit",
  description: "Asks for no longer answers than there is room for.",
  requires: [RequestError, AgentRequest, EventTypes, Llm],
  layer: () => LlmOutputLimit.layer
})

const retry = Plugin.make({
  name: "@dsh/llm/LlmRetry",
  description: "Tries a failed request again, when that may help.",
  config: Schema.Struct({
    maxRetries: Schema.optionalWith(Schema.NonNegativeInt, exact).annotations({
      description: "How often. Default: as the policy of the provider has it."
    })
  }),
  requires: [RequestError, EventTypes, Llm],
  layer: ({ maxRetries }) =>
    maxRetries === undefined ? LlmRetry.layer : LlmRetry.layerPolicy({ ...RetryPolicy.normal, maxRetries })
})

const repetition = Plugin.make({
  name: "@dsh/llm/LlmRepetition",
  description: "Stops a model whose thoughts go round in circles.",
  requires: [LlmStream, RequestError],
  // The answer may be long and monotonous because somebody wants it so.
  layer: () => LlmRepetition.layerThoughts
})

export const plugins = [deepSeek, outputLimit, retry, repetition]
