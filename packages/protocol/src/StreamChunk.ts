/**
 * The stream protocol between adapters and the loop. These objects are logged as they are, so they are plain JSON, and there is
 * one per token, so they are plain objects.
 *
 * Grammar: at most one `usage`, before `finish`; exactly one `finish`, last. A delta for an unseen index opens its block. The
 * first `block-end` of an index is authoritative; whatever follows for that index is ignored.
 */
import type { Json } from "@dsh/kernel/Json"
import type { ContentBlock } from "./Block.ts"
import type { CallId } from "./Ids.ts"

export interface BlockStart {
  readonly type: "block-start"
  readonly index: number
  readonly blockType: ContentBlock["type"]
}

export interface TextDelta {
  readonly type: "text-delta"
  readonly index: number
  readonly text: string
}

export interface ReasoningDelta {
  readonly type: "reasoning-delta"
  readonly index: number
  readonly text: string
}

export interface ToolCallDelta {
  readonly type: "tool-call-delta"
  readonly index: number
  /** The last non-empty one wins. */
  readonly id: CallId
  /** The last non-empty one wins. */
  readonly name?: string
  /** Fragments are concatenated verbatim. */
  readonly argumentsDelta: string
}

export interface BlockEnd {
  readonly type: "block-end"
  readonly index: number
  readonly block: ContentBlock
}

export interface UsageChunk {
  readonly type: "usage"
  readonly usage: TokenUsage
}

export interface Finish {
  readonly type: "finish"
  readonly reason: FinishReason
  readonly replayState?: ReplayEnvelope
}

export type Delta = TextDelta | ReasoningDelta | ToolCallDelta
export type StreamChunk = BlockStart | Delta | BlockEnd | UsageChunk | Finish

export type FinishReason =
  | { readonly kind: "stop" }
  | { readonly kind: "tool-calls" }
  | { readonly kind: "max-tokens" }
  | { readonly kind: "error"; readonly failure: LlmFailure }
  | { readonly kind: "aborted"; readonly failure: LlmFailure }

/** A failed model request, as the log keeps it. */
export interface LlmFailure {
  readonly message: string
  /** Stable and upper-case: `RATE_LIMIT`, `TRANSPORT`, … */
  readonly code: string
  /** HTTP status, 100..599. */
  readonly status?: number
  /** What the provider asked to wait, in milliseconds, > 0. */
  readonly providerRetryAfterMs?: number
  readonly requestId?: string
}

/** Tokens. The input buckets are disjoint: billed input = input + cacheRead + cacheWrite. Reasoning is part of output. */
export interface TokenUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  readonly reasoningTokens?: number
}

/** Opaque provider state kept for fidelity; `blocks` is aligned with the emitted blocks. */
export interface ReplayEnvelope {
  readonly response: Json
  readonly blocks?: ReadonlyArray<Json>
}
