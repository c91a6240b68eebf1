/**
 * The HTTP of adapters over a library that hides its body and its stream. The library is handed a client, or a `fetch`, behind which
 * everything is as in the adapters that speak for themselves: proxies and certificates, watchdogs, framing, limits and error codes.
 *
 * What the library gets to see is always clean: a plain refusal, or one well-formed event after the other until the answer is whole.
 * Anything else is a failure that the adapter finds here and reports instead of whatever the library makes of it. The library's own
 * retries have to be off.
 */
import type { TokenUsage } from "@dsh/protocol/StreamChunk"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import * as ChatCompletions from "./ChatCompletions.ts"
import * as Errors from "./ChatCompletions/Errors.ts"
import type { LlmError } from "./LlmError.ts"
import type { Key } from "./LibraryTransport/Outgoing.ts"
import { settled } from "./LibraryTransport/Settled.ts"
import { Relay } from "./LibraryTransport/Relay.ts"
import type { DialectName } from "./LibraryTransport/Relay.ts"
import { UserAgent } from "./UserAgent.ts"

/** For exchanges that a library has past the transport, in a wire format of its own. */
export { closed, refused, timedOut } from "./ChatCompletions/Errors.ts"
export { Handover } from "./ChatCompletions/Handover.ts"
export type { DialectName } from "./LibraryTransport/Relay.ts"
export type { Key } from "./LibraryTransport/Outgoing.ts"

/** What the exchanges of one adapter share. */
export interface Transport {
  readonly client: HttpClient.HttpClient
  readonly lifetime: ChatCompletions.Lifetime
  readonly userAgent: string
  /** Runs what a library waits for. */
  readonly fork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.RuntimeFiber<A, E>
}

/** Lives as long as the adapter. */
export const make: Effect.Effect<Transport, never, HttpClient.HttpClient | Scope.Scope> = Effect.gen(function* () {
  const client = ChatCompletions.quiet(yield* HttpClient.HttpClient)
  const lifetime = yield* ChatCompletions.lifetime
  const userAgent = yield* UserAgent
  const run = yield* FiberSet.makeRuntime<never>()
  return { client, lifetime, userAgent, fork: (effect) => run(effect) }
})

export interface Options {
  readonly dialect: DialectName
  readonly endpoint: ChatCompletions.Endpoint
  readonly key: Key
  readonly limits: ChatCompletions.Limits
  /** Sent with every request. */
  readonly headers?: ChatCompletions.Headers
  /**
   * Runs each time the library has worked off all it was given and wants more, and holds it, and the provider, until it is done. For
   * libraries that read on whether anybody takes their events or not.
   */
  readonly whenIdle?: Effect.Effect<void>
}

/** One request of a library. */
export interface Exchange {
  readonly client: HttpClient.HttpClient
  readonly fetch: typeof globalThis.fetch
  /** Why there is no answer, or no more of it. Takes precedence over whatever the library says. */
  readonly failure: () => LlmError | undefined
  /** Whether the provider has said all there is to say. */
  readonly isWhole: () => boolean
  /** Why the answer ends, in the provider's words, once it is whole. */
  readonly finish: () => string | undefined
  /** What the provider counted so far. */
  readonly usage: () => TokenUsage | undefined
  /** What the library says as it may be shown. */
  readonly conceal: (text: string) => string
  /** Closes the connection, unless the answer is whole. */
  readonly close: Effect.Effect<void>
}

/** The failure behind a request that never got an answer. */
export const unreachable = (endpoint: ChatCompletions.Endpoint, cause: unknown): LlmError =>
  Errors.transport(endpoint, cause, false)

/** Nothing is sent before the library does. */
export const open = (transport: Transport, options: Options): Exchange => {
  const relay = new Relay(transport, options)
  const hangUp = () => void transport.fork(relay.close)
  return {
    client: ChatCompletions.quiet(
      HttpClient.make((request, _url, signal) => {
        signal.addEventListener("abort", hangUp, { once: true })
        return Effect.mapBoth(relay.respond(request), {
          onSuccess: (response) => HttpClientResponse.fromWeb(request, response),
          onFailure: (cause) => new HttpClientError.RequestError({ request, reason: "Transport", cause })
        })
      })
    ),
    fetch: (input, init) => {
      init?.signal?.addEventListener("abort", hangUp, { once: true })
      return settled(transport.fork(relay.respond(fetched(input, init))))
    },
    failure: () => relay.failure,
    isWhole: () => relay.isWhole,
    finish: () => relay.finish,
    usage: () => relay.usage,
    conceal: (text) => relay.conceal(text),
    close: relay.close
  }
}

/** Libraries that post JSON hand `fetch` an address and text. */
const fetched = (input: string | URL | Request, init: RequestInit | undefined): HttpClientRequest.HttpClientRequest => {
  const url = typeof input === "string" ? input : input instanceof URL ? input.href : input.url
  const body = typeof init?.body === "string" ? init.body : ""
  const headers = Object.fromEntries(new Headers(init?.headers).entries())
  return HttpClientRequest.bodyText(HttpClientRequest.post(url, { headers }), body, "application/json")
}
