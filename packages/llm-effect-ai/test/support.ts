// The two providers of the library over a mock server, and one request to them.
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as LlmEffectAi from "@dsh/llm-effect-ai/LlmEffectAi"
import type { Options } from "@dsh/llm-effect-ai/LlmEffectAi"
import type { LlmAdapter, Purpose } from "@dsh/llm/LlmAdapter"
import * as BlockAssembler from "@dsh/protocol/BlockAssembler"
import { CallId, MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { EpochHeader, LlmCallConfig } from "@dsh/protocol/Request"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import * as MockLlm from "@dsh/testing/MockLlm"
import type * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import * as AnthropicClient from "@effect/ai-anthropic/AnthropicClient"
import * as AnthropicLanguageModel from "@effect/ai-anthropic/AnthropicLanguageModel"
import * as OpenAiClient from "@effect/ai-openai/OpenAiClient"
import * as OpenAiLanguageModel from "@effect/ai-openai/OpenAiLanguageModel"
import { HttpClient } from "@effect/platform"
import { Effect, Either, Layer, Redacted, Stream } from "effect"

export type Model = Options["model"]

type OpenAiConfig = Parameters<typeof OpenAiLanguageModel.layer>[0]["config"]
type AnthropicConfig = Parameters<typeof AnthropicLanguageModel.layer>[0]["config"]

export const openAi =
  (more: OpenAiConfig = {}) =>
  (apiUrl: string): Model =>
  ({ config }) =>
    OpenAiLanguageModel.layer({
      model: config.model,
      config: { max_output_tokens: config.maxTokens, temperature: config.temperature, ...more }
    }).pipe(Layer.provide(OpenAiClient.layer({ apiUrl })))

export const anthropic =
  (more: AnthropicConfig = {}) =>
  (apiUrl: string): Model =>
  ({ config }) =>
    AnthropicLanguageModel.layer({
      model: config.model,
      config: {
        max_tokens: config.maxTokens ?? 4096,
        temperature: config.temperature,
        ...(config.stop !== undefined && { stop_sequences: config.stop }),
        ...more
      }
    }).pipe(Layer.provide(AnthropicClient.layer({ apiUrl })))

const key = Redacted.make("sk-test-0123456789")

/** A server that answers in order, and the adapter over it. */
export const world = (
  model: (apiUrl: string) => Model,
  replies: ReadonlyArray<Reply.Reply>,
  options: Partial<Options> = {}
) =>
  Effect.gen(function* () {
    const server = yield* MockLlm.make({ script: Script.sequence(replies) })
    const client = yield* HttpClientNode.make
    const made = LlmEffectAi.make({
      provider: "bridge",
      apiKey: Effect.succeedSome(key),
      model: model(server.url),
      ...options
    })
    return { server, adapter: yield* Effect.provideService(made, HttpClient.HttpClient, client) }
  })

export interface Question {
  readonly config?: Partial<LlmCallConfig>
  readonly header?: Pick<EpochHeader, "system" | "tools">
  readonly messages?: ReadonlyArray<Message.Message>
  readonly purpose?: Purpose
}

export const user = (text: string) => Message.user(MessageId(`u-${text}`), text)

/** The message a request comes to, as the loop would log it, and the chunks behind it. */
export const ask = (self: LlmAdapter, { config, header, messages = [user("hi")], purpose = "agent" }: Question = {}) =>
  Effect.gen(function* () {
    const call = yield* self.prepare({ provider: "bridge", model: "m", ...config }, purpose)
    const assembler = BlockAssembler.make()
    const chunks: Array<StreamChunk> = []
    const stream = call.stream({
      header: { config: call.config, wire: call.wire, ...header },
      messages,
      body: { bytes: new Uint8Array(), sha256: "", of: "neutral" }
    })
    yield* Stream.runForEach(stream, (chunk) =>
      Effect.sync(() => {
        chunks.push(chunk)
        assembler.push(chunk)
      })
    )
    const { blocks, finish, replayState, usage } = Either.getOrThrow(assembler.assemble())
    const { model, provider } = call.config
    const message: Message.AssistantMessage = {
      id: MessageId("a"),
      role: "assistant",
      content: blocks,
      source: { kind: "model", provider, model, ...(replayState !== undefined && { replayState }) }
    }
    // Through the log and back.
    return { chunks, finish, usage, message: JSON.parse(JSON.stringify(message)) as Message.AssistantMessage }
  })

/** The results of all calls of a message. */
export const results = ({ content }: Message.AssistantMessage) =>
  content.flatMap((block) =>
    block.type === "tool-call"
      ? [Message.toolResult(MessageId("t"), CallId(block.id), [{ type: "text", text: "ok" }], false)]
      : []
  )

/** The body of a request, whatever is in it. */
export const bodyOf = (request: MockLlm.Recorded | undefined) =>
  request?.json as Readonly<Record<string, unknown>> & {
    readonly input: ReadonlyArray<Readonly<Record<string, unknown>>>
    readonly messages: ReadonlyArray<{ readonly content: ReadonlyArray<Readonly<Record<string, unknown>>> }>
  }
