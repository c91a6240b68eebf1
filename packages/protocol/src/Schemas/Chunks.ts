/**
 * Schemas of the stream protocol.
 */
import * as Schema from "effect/Schema"
import type * as Chunk from "../StreamChunk.ts"
import { ContentBlock } from "./Blocks.ts"
import { Amount, DeltaCallId, JsonValue, maybe } from "./Values.ts"

export const LlmFailure: Schema.Schema<Chunk.LlmFailure> = Schema.Struct({
  message: Schema.String,
  code: Schema.String.annotations({ description: "stable and upper-case" }),
  status: maybe(Amount.annotations({ description: "HTTP status" })),
  providerRetryAfterMs: maybe(Amount),
  requestId: maybe(Schema.String)
})

export const TokenUsage: Schema.Schema<Chunk.TokenUsage> = Schema.Struct({
  inputTokens: Amount,
  outputTokens: Amount,
  cacheReadTokens: maybe(Amount),
  cacheWriteTokens: maybe(Amount),
  reasoningTokens: maybe(Amount)
})

export const ReplayEnvelope: Schema.Schema<Chunk.ReplayEnvelope> = Schema.Struct({
  response: JsonValue,
  blocks: maybe(Schema.Array(JsonValue))
})

export const FinishReason: Schema.Schema<Chunk.FinishReason> = Schema.Union(
  Schema.Struct({ kind: Schema.Literal("stop") }),
  Schema.Struct({ kind: Schema.Literal("tool-calls") }),
  Schema.Struct({ kind: Schema.Literal("max-tokens") }),
  Schema.Struct({ kind: Schema.Literal("error"), failure: LlmFailure }),
  Schema.Struct({ kind: Schema.Literal("aborted"), failure: LlmFailure })
)

export const BlockStart: Schema.Schema<Chunk.BlockStart> = Schema.Struct({
  type: Schema.Literal("block-start"),
  index: Amount,
  // Any name: the block itself comes with `block-end` and is checked there.
  blockType: Schema.declare<Chunk.BlockStart["blockType"]>(
    (value): value is Chunk.BlockStart["blockType"] => typeof value === "string" && value !== "",
    {
      jsonSchema: { type: "string", minLength: 1 },
      arbitrary: () => (fc) => fc.constantFrom("text", "reasoning", "tool-call")
    }
  )
})

export const TextDelta: Schema.Schema<Chunk.TextDelta> = Schema.Struct({
  type: Schema.Literal("text-delta"),
  index: Amount,
  text: Schema.String
})

export const ReasoningDelta: Schema.Schema<Chunk.ReasoningDelta> = Schema.Struct({
  type: Schema.Literal("reasoning-delta"),
  index: Amount,
  text: Schema.String
})

export const ToolCallDelta: Schema.Schema<Chunk.ToolCallDelta> = Schema.Struct({
  type: Schema.Literal("tool-call-delta"),
  index: Amount,
  id: DeltaCallId,
  name: maybe(Schema.String),
  argumentsDelta: Schema.String
})

export const BlockEnd: Schema.Schema<Chunk.BlockEnd> = Schema.Struct({
  type: Schema.Literal("block-end"),
  index: Amount,
  block: ContentBlock
})

export const UsageChunk: Schema.Schema<Chunk.UsageChunk> = Schema.Struct({
  type: Schema.Literal("usage"),
  usage: TokenUsage
})

export const Finish: Schema.Schema<Chunk.Finish> = Schema.Struct({
  type: Schema.Literal("finish"),
  reason: FinishReason,
  replayState: maybe(ReplayEnvelope)
})

export const StreamChunk: Schema.Schema<Chunk.StreamChunk> = Schema.Union(
  TextDelta,
  ReasoningDelta,
  ToolCallDelta,
  BlockStart,
  BlockEnd,
  UsageChunk,
  Finish
).annotations({ identifier: "StreamChunk" })
