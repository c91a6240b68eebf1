/**
 * What a provider implements. An adapter owns routes (provider ids); it resolves a call configuration, names the wire format its
 * requests are written in, and turns a rendered request into a stream of chunks.
 *
 * Obligations: `usage` before `finish`, nothing after `finish`; tool arguments stay raw text; a failure is a typed `LlmError` or a
 * terminal `finish` of kind `error`/`aborted`, nothing else; interrupting the stream reaches the socket; an option the provider
 * cannot honour fails with `UNSUPPORTED_OPTION` and is never dropped.
 */
import type { SessionId } from "@dsh/protocol/Ids"
import type { Message } from "@dsh/protocol/Message"
import type { EpochHeader, LlmCallConfig, RequestFormat, WireProfile } from "@dsh/protocol/Request"
import type { RenderedRequest } from "@dsh/protocol/RequestBody"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { LlmError } from "./LlmError.ts"
import type { RetryPolicy } from "./RetryPolicy.ts"

export interface ProviderInfo {
  readonly id: string
  readonly name: string
}

export interface ModelInfo {
  readonly provider: string
  readonly id: string
  readonly name: string
  readonly description?: string
  /** In tokens. */
  readonly contextWindow?: number
  /** Output ceiling in tokens that the adapter uses when the caller names none. */
  readonly defaultMaxTokens?: number
  /** Absent: unknown. A list without `image` means the model takes none. */
  readonly inputModalities?: ReadonlyArray<"text" | "image">
  readonly reasoning?: { readonly efforts: ReadonlyArray<string>; readonly defaultEffort?: string }
}

export type Purpose = "agent" | "compaction" | "session-title"

/** One request, ready to send. */
export interface LlmRequest {
  readonly header: EpochHeader
  readonly messages: ReadonlyArray<Message>
  /** The finished body in the format the header names. Wire adapters send these bytes and no others. */
  readonly body: RenderedRequest
  readonly sessionId?: SessionId
  readonly purpose?: Purpose
  /** Whether the session already has a tool call of that id. Default: whether the messages do. */
  readonly isCallIdTaken?: (id: string) => boolean
}

/** A call configuration with the adapter's defaults filled in, bound to one registration. */
export interface AdapterCall {
  readonly config: LlmCallConfig
  readonly adapterDefaults?: NonNullable<EpochHeader["adapterDefaults"]>
  readonly wire: WireProfile
  readonly model: ModelInfo
  /**
   * Cold: each run is one request. The chunks of one network read travel as one `Chunk`. Connection facts and credentials are
   * resolved once per run.
   */
  readonly stream: (request: LlmRequest) => Stream.Stream<StreamChunk, LlmError>
}

export interface LlmAdapter {
  readonly providers: ReadonlyArray<ProviderInfo>
  /** The formats its requests are written in. */
  readonly formats: ReadonlyArray<RequestFormat>
  /** Advisory: what a selector may show. */
  readonly models: (provider: string) => Effect.Effect<ReadonlyArray<ModelInfo>, LlmError>
  /** When a failed request on one of its routes is tried again. Default: `RetryPolicy.normal`. */
  readonly retryPolicy?: RetryPolicy
  /** Resolves defaults and refuses what cannot be honoured. No network. */
  readonly prepare: (config: LlmCallConfig, purpose: Purpose) => Effect.Effect<AdapterCall, LlmError>
}
