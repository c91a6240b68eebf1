/**
 * The chat-completions wire format: how a request is written, and how its answer is read. What is particular to one provider
 * (routes, catalog, credentials, headers) is the adapter's.
 */
import type { Message } from "@dsh/protocol/Message"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import * as Ids from "@dsh/kernel/Ids"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { Endpoint } from "./ChatCompletions/Errors.ts"
import * as Exchange from "./ChatCompletions/Exchange.ts"
import type { Limits } from "./ChatCompletions/Watchdog.ts"
import type { LlmRequest } from "./LlmAdapter.ts"
import type { LlmError } from "./LlmError.ts"

export type { Endpoint } from "./ChatCompletions/Errors.ts"
export type { Profile } from "./ChatCompletions/Profile.ts"
export { write as profile } from "./ChatCompletions/Profile.ts"
export { format } from "./ChatCompletions/Render.ts"
export type { Limits } from "./ChatCompletions/Watchdog.ts"

export interface Options {
  readonly client: HttpClient.HttpClient
  readonly endpoint: Endpoint
  readonly apiKey: Redacted.Redacted
  readonly limits: Limits
  /** Beyond authorization and content negotiation. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Sends the rendered body as it is and decodes the answer. Cold: each run is one request.
 *
 * Fails with a code of the request group (`AUTH`, `RATE_LIMIT`, `TRANSPORT`, `TIMEOUT`, `STREAM_CLOSED`, …); an answer that the
 * provider ended by itself ends with a `finish` instead, also when that is an error.
 */
export const stream = (options: Options, { body, messages }: LlmRequest): Stream.Stream<StreamChunk, LlmError> =>
  Stream.unwrap(
    Effect.map(Ids.IdSource, (ids) =>
      Exchange.stream({
        // A third party has no use for our trace ids.
        client: HttpClient.withTracerPropagation(options.client, false),
        request: HttpClientRequest.post(`${options.endpoint.url}/chat/completions`).pipe(
          HttpClientRequest.setHeaders({ accept: "text/event-stream", ...options.headers }),
          HttpClientRequest.bearerToken(options.apiKey),
          HttpClientRequest.bodyUint8Array(body.bytes, "application/json")
        ),
        endpoint: options.endpoint,
        limits: options.limits,
        isTaken: (id) => messages.some((message) => calls(message, id)),
        mint: ids.next
      })
    )
  )

const calls = (message: Message, id: string): boolean =>
  message.role === "assistant" && message.content.some((block) => block.type === "tool-call" && block.id === id)
