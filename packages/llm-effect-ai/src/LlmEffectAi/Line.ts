/**
 * The client that a library is given for one request. Where the wire format is one we know, everything goes through the transport, with
 * what the library says and gets to see set right on the way; where it is not, as it is, but for refusals, which have our codes.
 */
import * as LibraryTransport from "@dsh/llm/LibraryTransport"
import type { LlmError } from "@dsh/llm/LlmError"
import type { TokenUsage } from "@dsh/protocol/StreamChunk"
import * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Wire from "./Wire.ts"

export interface LineOptions {
  readonly transport: LibraryTransport.Transport
  readonly endpoint: Omit<LibraryTransport.Options["endpoint"], "url">
  readonly key: LibraryTransport.Key
  readonly limits: LibraryTransport.Options["limits"]
  readonly headers?: NonNullable<LibraryTransport.Options["headers"]>
  /** The arguments of calls as they are to be sent, by the id of the call. */
  readonly written: ReadonlyMap<string, string>
  readonly whenIdle: Effect.Effect<void>
}

/** What the library has read ahead, it works off before the next turn of the event loop. */
const turn: Effect.Effect<void> = Effect.async((resume) => {
  const next = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(next))
})

export class Line {
  readonly #options: LineOptions
  #exchange: LibraryTransport.Exchange | undefined
  #failure: LlmError | undefined
  #url = "its address"
  #isWaiting = false

  constructor(options: LineOptions) {
    this.#options = options
  }

  readonly client: HttpClient.HttpClient = HttpClient.make((request) => {
    const wire = Wire.of(request)
    return wire === undefined ? this.#plain(request) : this.#known(request, wire)
  }).pipe(HttpClient.withTracerDisabledWhen(() => true))

  /** Whether the transport saw all that was said. */
  get isKnown(): boolean {
    return this.#exchange !== undefined
  }

  /** Whether more of the answer is at hand than the library has said so far. It reads ahead a little, so this is not for certain. */
  get isBusy(): boolean {
    return this.isKnown && !this.#isWaiting
  }

  get failure(): LlmError | undefined {
    return this.#exchange === undefined ? this.#failure : this.#exchange.failure()
  }

  get finish(): string | undefined {
    return this.#exchange?.finish()
  }

  get usage(): TokenUsage | undefined {
    return this.#exchange?.usage()
  }

  get name(): string {
    return this.#options.endpoint.name
  }

  /** The answer stopped without an end. */
  get closed(): LlmError {
    return LibraryTransport.closed(this.#endpoint)
  }

  readonly close: Effect.Effect<void> = Effect.suspend(() => this.#exchange?.close ?? Effect.void)

  conceal(text: string): string {
    return this.#exchange?.conceal(text) ?? text
  }

  /** The transport has its own limits; where it is not in between, an answer that goes silent is given up here. */
  watched<A, E>(
    pull: Effect.Effect<A, Option.Option<E>>,
    hasBegun: boolean
  ): Effect.Effect<A, Option.Option<E | LlmError>> {
    if (this.isKnown) return pull
    const clock = hasBegun ? "contentIdle" : "queued"
    const limit = this.#options.limits[clock]
    return Effect.timeoutFail(pull, {
      duration: limit,
      onTimeout: () => Option.some(LibraryTransport.timedOut(this.#endpoint, { clock, limit }))
    })
  }

  get #endpoint(): LibraryTransport.Options["endpoint"] {
    return { ...this.#options.endpoint, url: this.#url }
  }

  #known(request: HttpClientRequest.HttpClientRequest, wire: Wire.Wire) {
    this.#url = request.url.slice(0, -wire.path.length)
    const exchange = LibraryTransport.open(this.#options.transport, {
      ...this.#options,
      dialect: wire.dialect,
      endpoint: this.#endpoint,
      whenIdle: this.#idle
    })
    this.#exchange = exchange
    return Effect.map(exchange.client.execute(Wire.outgoing(wire, request, this.#options.written)), (response) =>
      Wire.incoming(wire, response, () => {
        this.#isWaiting = false
      })
    )
  }

  readonly #idle: Effect.Effect<void> = Effect.zipRight(
    turn,
    Effect.suspend(() => {
      this.#isWaiting = true
      return this.#options.whenIdle
    })
  )

  #plain(request: HttpClientRequest.HttpClientRequest) {
    const { headers = {}, transport } = this.#options
    this.#url = request.url
    const added = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, Redacted.isRedacted(value) ? Redacted.value(value) : value])
    )
    const sent = HttpClientRequest.setHeaders(request, { "user-agent": transport.userAgent, ...added })
    return Effect.flatMap(
      Effect.tapError(transport.client.execute(sent), (error) => Effect.sync(() => this.#unreachable(error))),
      (response) =>
        response.status >= 200 && response.status < 300 ? Effect.succeed(response) : this.#refused(sent, response)
    )
  }

  #unreachable(error: HttpClientError): void {
    this.#failure = LibraryTransport.unreachable(this.#endpoint, error)
  }

  #refused(request: HttpClientRequest.HttpClientRequest, response: HttpClientResponse.HttpClientResponse) {
    return Effect.gen(this, function* () {
      const body = yield* Effect.orElseSucceed(response.text, () => "")
      const { headers, status } = response
      const now = yield* Clock.currentTimeMillis
      this.#failure = LibraryTransport.refused(this.#endpoint, { status, headers, body, now })
      return HttpClientResponse.fromWeb(request, new Response(body, { status }))
    })
  }
}
