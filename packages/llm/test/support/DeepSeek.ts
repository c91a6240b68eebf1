/**
 * The adapter under test, asked one question over real HTTP.
 */
import * as ChatCompletions from "@dsh/llm/ChatCompletions"
import type { LlmRequest, Purpose } from "@dsh/llm/LlmAdapter"
import * as LlmDeepSeek from "@dsh/llm/LlmDeepSeek"
import type { LlmError } from "@dsh/llm/LlmError"
import * as BlockAssembler from "@dsh/protocol/BlockAssembler"
import { MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { EpochHeader, LlmCallConfig } from "@dsh/protocol/Request"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import type { HttpClient } from "@effect/platform"
import type { Scope } from "effect"
import { Effect, Either, Redacted, Stream } from "effect"

export const hello: ReadonlyArray<Message.Message> = [Message.user(MessageId("m1"), "hi")]

export interface Ask {
  readonly config?: Partial<LlmCallConfig>
  readonly messages?: ReadonlyArray<Message.Message>
  readonly settings?: LlmDeepSeek.Settings
  readonly purpose?: Purpose
  readonly header?: Partial<EpochHeader>
}

export const render = (header: EpochHeader, messages: ReadonlyArray<Message.Message>): string => {
  const writer = ChatCompletions.format.open(header)
  return writer.prefix + [...writer.initial, ...messages.flatMap((m) => writer.message(m))].join(",") + writer.suffix
}

/** A cold stream of one request to `url`, through an adapter that lives in the current Scope. */
export const chunks = (
  url: string,
  { config, header, messages = hello, purpose = "agent", settings }: Ask = {}
): Stream.Stream<StreamChunk, LlmError, HttpClient.HttpClient | Scope.Scope> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const connection = LlmDeepSeek.connection({ apiKey: Redacted.make("sk-test"), baseUrl: url })
      const adapter = yield* LlmDeepSeek.make({ ...settings, connection })
      const call = yield* adapter.prepare(
        { provider: LlmDeepSeek.provider, model: "deepseek-v4-flash", ...config },
        purpose
      )
      const full: EpochHeader = { config: call.config, wire: call.wire, ...header }
      const bytes = new TextEncoder().encode(render(full, messages))
      const request: LlmRequest = { header: full, messages, body: { bytes, sha256: "", of: "wire" }, purpose }
      return call.stream(request)
    })
  )

/** A request body as it was sent; every field is only expected. */
export interface WireBody {
  readonly thinking?: { readonly type: string }
  readonly reasoning_effort?: string
  readonly max_tokens?: number
  readonly max_completion_tokens?: number
  readonly temperature?: number
  readonly stop?: ReadonlyArray<string>
  readonly messages: ReadonlyArray<WireMessage>
}

export interface WireMessage {
  readonly role: string
  readonly content: string
  readonly reasoning_content?: string
  readonly tool_call_id?: string
  readonly tool_calls?: ReadonlyArray<{
    readonly id: string
    readonly type: string
    readonly function: { readonly name: string; readonly arguments: string }
  }>
}

export const parse = (body: string | Uint8Array): WireBody =>
  JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body)) as WireBody

export interface Answer {
  readonly chunks: ReadonlyArray<StreamChunk>
  /** The failure of the stream, if it failed. */
  readonly error: LlmError | undefined
  readonly message: BlockAssembler.Assembled
}

/** Runs a stream to its end, keeping what came before a failure. */
export const collect = <R>(stream: Stream.Stream<StreamChunk, LlmError, R>): Effect.Effect<Answer, never, R> =>
  Effect.gen(function* () {
    const seen: Array<StreamChunk> = []
    const assembler = BlockAssembler.make()
    const result = yield* Effect.either(
      Stream.runForEachChunk(stream, (batch) =>
        Effect.sync(() => {
          for (const chunk of batch) {
            seen.push(chunk)
            assembler.push(chunk)
          }
        })
      )
    )
    return {
      chunks: seen,
      error: Either.isLeft(result) ? result.left : undefined,
      message: Either.getOrThrow(assembler.assemble())
    }
  })
