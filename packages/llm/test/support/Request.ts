/**
 * Requests, and an adapter that answers them with given chunks.
 */
import { MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import { neutral } from "@dsh/protocol/NeutralRequest"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Llm from "../../src/Llm.ts"
import type { AdapterCall, LlmAdapter, LlmRequest } from "../../src/LlmAdapter.ts"
import type { LlmError } from "../../src/LlmError.ts"

export const request = (text = "hello", provider = "p"): LlmRequest => ({
  header: { config: { provider, model: "m" }, wire: { format: "neutral" } },
  messages: [Message.user(MessageId("m"), text)],
  body: { bytes: new TextEncoder().encode(text), sha256: text, of: "neutral" }
})

export const delta = (text: string): StreamChunk => ({ type: "text-delta", index: 0, text })
export const stop: StreamChunk = { type: "finish", reason: { kind: "stop" } }

export interface Answering {
  readonly formats?: LlmAdapter["formats"]
  readonly stream?: AdapterCall["stream"]
}

/** An adapter that serves these routes. */
export const adapter = (
  routes: ReadonlyArray<string>,
  { formats = [neutral], stream = () => Stream.make(delta("hi"), stop) }: Answering = {}
): LlmAdapter => ({
  providers: routes.map((id) => ({ id, name: id.toUpperCase() })),
  formats,
  models: (provider) => Effect.succeed([{ provider, id: `${provider}-model`, name: "m" }]),
  prepare: (config, purpose) =>
    Effect.succeed({
      config: { ...config, maxTokens: purpose === "agent" ? 100 : 10 },
      adapterDefaults: { maxTokens: true },
      wire: { format: formats[0]?.format ?? "neutral" },
      model: { provider: config.provider, id: config.model, name: "m" },
      stream
    })
})

/** Sends the request on its route and collects what comes back. */
export const answer = (
  sent: LlmRequest
): Effect.Effect<ReadonlyArray<StreamChunk>, LlmError, Llm.Llm | Llm.LlmStream> =>
  Effect.gen(function* () {
    const call = yield* (yield* Llm.Llm).prepare(sent.header.config)
    const chunks = yield* Stream.runCollect(yield* Llm.stream(call, sent))
    return Chunk.toReadonlyArray(chunks)
  })
