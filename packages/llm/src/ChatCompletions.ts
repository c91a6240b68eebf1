/**
 * The chat-completions wire format: how a request is written, and how its answer is read. What is particular to one provider
 * (routes, catalog, credentials, headers) is the adapter's.
 */
import type { Attachments } from "@dsh/attachments/Attachments"
import type { Message } from "@dsh/protocol/Message"
import { showsImages } from "@dsh/protocol/Request"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import * as Ids from "@dsh/kernel/Ids"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import { Decoder } from "./ChatCompletions/Decode.ts"
import type { Endpoint } from "./ChatCompletions/Errors.ts"
import * as Exchange from "./ChatCompletions/Exchange.ts"
import { Guard } from "./ChatCompletions/Guard.ts"
import * as Images from "./ChatCompletions/Images.ts"
import type { Limits } from "./ChatCompletions/Watchdog.ts"
import { AnswerWriter, within } from "./AnswerWriter.ts"
import type { Asked } from "./AnswerWriter.ts"
import * as ChunkStream from "./ChunkStream.ts"
import type { LlmRequest } from "./LlmAdapter.ts"
import type { LlmError } from "./LlmError.ts"

export { strip as baseUrl, usable as usableKey } from "./ChatCompletions/Credential.ts"
export type { Endpoint } from "./ChatCompletions/Errors.ts"
export type { Profile } from "./ChatCompletions/Profile.ts"
export { write as profile } from "./ChatCompletions/Profile.ts"
export { format } from "./ChatCompletions/Render.ts"
export type { Limits, Timeouts } from "./ChatCompletions/Watchdog.ts"
export { limits } from "./ChatCompletions/Watchdog.ts"

export interface Options {
  /** See `quiet`. */
  readonly client: HttpClient.HttpClient
  readonly endpoint: Endpoint
  /** Local servers need none. */
  readonly apiKey?: Redacted.Redacted
  readonly limits: Limits
  /** Beyond authorization and content negotiation. */
  readonly headers?: Headers
  readonly lifetime: Lifetime
  /** Where the images of requests are. */
  readonly attachments?: Attachments["Type"] | undefined
}

/** Some of which may be secrets. */
export type Headers = Readonly<Record<string, string | Redacted.Redacted>>

/** What the exchanges of one adapter share: where they live, and who looks after their deadlines. */
export interface Lifetime {
  readonly scope: Scope.Scope
  readonly guard: Guard
}

export const lifetime: Effect.Effect<Lifetime, never, Scope.Scope> = Effect.map(Effect.scope, (scope) => ({
  scope,
  guard: new Guard(scope)
}))

/** A client for third parties: the span of a request is the caller's, and no trace ids leave the house. */
export const quiet: (client: HttpClient.HttpClient) => HttpClient.HttpClient = HttpClient.withTracerDisabledWhen(
  () => true
)

/**
 * Sends the rendered body as it is, images in the place of their names, and decodes the answer. Cold: each run is one request, with the connection facts of that moment.
 *
 * Fails with a code of the request group (`AUTH`, `RATE_LIMIT`, `TRANSPORT`, `TIMEOUT`, `STREAM_CLOSED`, …); an answer that the
 * provider ended by itself ends with a `finish` instead, also when that is an error.
 */
export const stream = (
  resolve: Effect.Effect<Options, LlmError>,
  llmRequest: LlmRequest
): Stream.Stream<StreamChunk, LlmError> =>
  ChunkStream.fromSource(
    Effect.flatMap(Ids.IdSource, (ids) =>
      Effect.matchEffect(resolve, {
        onFailure: (error) =>
          Effect.succeed<ChunkStream.Source>({ pull: Effect.fail(Option.some(error)), close: Effect.void }),
        onSuccess: ({ attachments, client, endpoint, lifetime: { guard, scope }, limits, ...access }) => {
          const writer = new AnswerWriter(asked(llmRequest, ids))
          return Effect.flatMap(bytesOf(llmRequest, attachments), (bytes) =>
            Exchange.start({
              client,
              scope,
              guard,
              request: HttpClientRequest.bodyUint8Array(
                authorized(HttpClientRequest.post(`${endpoint.url}/chat/completions`), "text/event-stream", access),
                bytes,
                "application/json"
              ),
              endpoint: guarded(endpoint, access),
              limits,
              reader: (failures) => new Decoder(writer, failures)
            })
          )
        }
      })
    )
  )

const bytesOf = ({ body, header }: LlmRequest, attachments: Options["attachments"]): Effect.Effect<Uint8Array> =>
  attachments !== undefined && showsImages(header) ? Images.expand(body.bytes, attachments) : Effect.succeed(body.bytes)

/** What reading the answer has to know of the request. */
export const asked = ({ header, isCallIdTaken, messages }: LlmRequest, ids: Ids.IdSource["Type"]): Asked => ({
  isTaken: isCallIdTaken ?? ((id) => messages.some((message) => calls(message, id))),
  mint: ids.next,
  tools: new Set(header.tools?.map(({ name }) => name)),
  isQuoted: within(messages)
})

type Access = Pick<Options, "apiKey" | "headers">

/** The request with everything that says who is asking, and what for. */
export const authorized = (
  request: HttpClientRequest.HttpClientRequest,
  accept: string,
  { apiKey, headers = {} }: Access
): HttpClientRequest.HttpClientRequest => {
  const plain = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Redacted.isRedacted(value) ? Redacted.value(value) : value])
  )
  const named = HttpClientRequest.setHeaders(request, { accept, ...plain })
  return apiKey === undefined ? named : HttpClientRequest.bearerToken(named, apiKey)
}

/** The endpoint, whose failures do not show what is secret. */
export const guarded = (endpoint: Endpoint, { apiKey, headers = {} }: Access): Endpoint => ({
  ...endpoint,
  secrets: [apiKey, ...Object.values(headers)].filter((value) => Redacted.isRedacted(value))
})

const calls = (message: Message, id: string): boolean =>
  message.role === "assistant" && message.content.some((block) => block.type === "tool-call" && block.id === id)
