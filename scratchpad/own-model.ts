/**
 * A model of our own in twenty lines: an adapter names its route and turns a request into chunks.
 */
import { layerAdapter } from "@dsh/llm/Llm"
import type { LlmAdapter } from "@dsh/llm/LlmAdapter"
import { textOf } from "@dsh/protocol/Block"
import { neutral } from "@dsh/protocol/NeutralRequest"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

const parrot: LlmAdapter = {
  providers: [{ id: "parrot", name: "Parrot" }],
  formats: [neutral],
  models: () => Effect.succeed([{ provider: "parrot", id: "polly", name: "Polly" }]),
  prepare: (config) =>
    Effect.succeed({
      config,
      wire: { format: neutral.format },
      model: { provider: "parrot", id: config.model, name: "Polly" },
      stream: ({ messages }) =>
        Stream.make<[StreamChunk, StreamChunk]>(
          { type: "text-delta", index: 0, text: textOf(messages.at(-1)?.content ?? []) },
          { type: "finish", reason: { kind: "stop" } }
        )
    })
}

/** Serves the route `parrot`. */
export const layer = layerAdapter(Effect.succeed(parrot))
