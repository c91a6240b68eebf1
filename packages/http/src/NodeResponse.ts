/**
 * A response of `node:http`. `source` is the incoming message itself, for who would rather read it with callbacks.
 */
import * as Cookies from "@effect/platform/Cookies"
import * as Headers from "@effect/platform/Headers"
import { ResponseError } from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import * as UrlParams from "@effect/platform/UrlParams"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Effect from "effect/Effect"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type * as Http from "node:http"
import { Readable } from "node:stream"

export class NodeResponse extends Inspectable.Class implements HttpClientResponse.HttpClientResponse {
  readonly [HttpIncomingMessage.TypeId]: HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly [HttpClientResponse.TypeId]: HttpClientResponse.TypeId = HttpClientResponse.TypeId
  readonly request: HttpClientRequest.HttpClientRequest
  readonly source: Http.IncomingMessage

  constructor(request: HttpClientRequest.HttpClientRequest, source: Http.IncomingMessage) {
    super()
    this.request = request
    this.source = source
  }

  get status(): number {
    return this.source.statusCode ?? 0
  }

  get headers(): Headers.Headers {
    return Headers.fromInput(this.source.headers)
  }

  get cookies(): Cookies.Cookies {
    const header = this.source.headers["set-cookie"]
    return header === undefined ? Cookies.empty : Cookies.fromSetCookie(header)
  }

  get remoteAddress(): Option.Option<string> {
    return Option.fromNullable(this.source.socket.remoteAddress)
  }

  /** Ending it early closes the connection. */
  get stream(): Stream.Stream<Uint8Array, ResponseError> {
    return NodeStream.fromReadable(
      () => this.source,
      (cause) => this.#unreadable(cause)
    )
  }

  get text(): Effect.Effect<string, ResponseError> {
    return NodeStream.toString(() => this.source, { onFailure: (cause) => this.#unreadable(cause) })
  }

  get json(): Effect.Effect<unknown, ResponseError> {
    return Effect.flatMap(this.text, (text) =>
      Effect.try({
        try: (): unknown => (text === "" ? null : JSON.parse(text)),
        catch: (cause) => this.#unreadable(cause)
      })
    )
  }

  get urlParamsBody(): Effect.Effect<UrlParams.UrlParams, ResponseError> {
    return Effect.map(this.text, (text) => UrlParams.fromInput(new URLSearchParams(text)))
  }

  get arrayBuffer(): Effect.Effect<ArrayBuffer, ResponseError> {
    return Effect.map(
      NodeStream.toUint8Array(() => this.source, { onFailure: (cause) => this.#unreadable(cause) }),
      // A copy of exactly the bytes: Node's buffers are windows into a shared pool.
      (bytes) => new Uint8Array(bytes).buffer
    )
  }

  get formData(): Effect.Effect<FormData, ResponseError> {
    return Effect.tryPromise({
      try: () => {
        const headers = Object.entries(this.headers)
        return new Response(Readable.toWeb(this.source) as ReadableStream, { status: this.status, headers }).formData()
      },
      catch: (cause) => this.#unreadable(cause)
    })
  }

  toJSON(): unknown {
    return HttpIncomingMessage.inspect(this, {
      _id: "@effect/platform/HttpClientResponse",
      request: this.request.toJSON(),
      status: this.status
    })
  }

  #unreadable(cause: unknown): ResponseError {
    return new ResponseError({ request: this.request, response: this, reason: "Decode", cause })
  }
}
