/**
 * `HttpClient` over `node:http`, with connections that are kept for the next request, through the proxies of the environment.
 *
 * Why not `@effect/platform-node`'s own: it runs a fiber for the body and one for the response, and aborts a controller per request.
 * At the tenth step of an agent, in code that is still cold, that alone takes longer than everything else the harness does for the
 * step. Here a request is one asynchronous operation.
 *
 * The environment is read when the client is made: nobody can change it for a process that runs, and a request looks nothing up.
 */
import type * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as NodeSink from "@effect/platform-node/NodeSink"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Http from "node:http"
import { ConnectionError } from "./ConnectionError.ts"
import { GuardedHttp } from "./GuardedHttp.ts"
import { Connections } from "./HttpClientNode/Connections.ts"
import { Exchange, failure } from "./HttpClientNode/Exchange.ts"
import * as Settings from "./HttpClientNode/Settings.ts"
import type { NodeResponse } from "./NodeResponse.ts"

export type Options = Settings.Options

/** The proxies of the environment, by variable, without their passwords; and what is reached without them. */
export const proxies = Settings.inForce

const open = (options: Options): Effect.Effect<Connections, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.map(Settings.resolve(options), (settings) => new Connections(settings)),
    (connections) => Effect.sync(() => connections.destroy())
  )

/** A client whose connections close with the Scope. */
export const makeWith = (options: Options): Effect.Effect<HttpClient.HttpClient, never, Scope.Scope> =>
  Effect.map(open(options), (connections) => HttpClient.make((request, url) => send(request, url, connections)))

export const layerWith = (options: Options): Layer.Layer<HttpClient.HttpClient> =>
  Layer.scoped(HttpClient.HttpClient, makeWith(options))

export const make: Effect.Effect<HttpClient.HttpClient, never, Scope.Scope> = makeWith({})

export const layer: Layer.Layer<HttpClient.HttpClient> = Layer.scoped(HttpClient.HttpClient, make)

/** The same proxies and certificates, for addresses that somebody else chose. */
export const makeGuarded = (options: Options = {}): Effect.Effect<GuardedHttp["Type"], never, Scope.Scope> =>
  Effect.map(open(options), (connections) =>
    GuardedHttp.of({
      isProxied: (url) => connections.proxyFor(url) !== undefined,
      send: (request, addresses) =>
        Effect.suspend(() => {
          // A connection that is kept would outlive the look at its address.
          const once = HttpClientRequest.setHeader(request, "connection", "close")
          const sent = send(once, new URL(once.url), connections, addresses)
          return Effect.uninterruptibleMask((restore) =>
            Effect.tap(restore(sent), ({ source }) => Effect.addFinalizer(() => Effect.sync(() => source.destroy())))
          )
        })
    })
  )

export const layerGuarded = (options?: Options): Layer.Layer<GuardedHttp> =>
  Layer.scoped(GuardedHttp, makeGuarded(options))

const send = (
  request: HttpClientRequest.HttpClientRequest,
  url: URL,
  connections: Connections,
  addresses?: ReadonlyArray<string>
): Effect.Effect<NodeResponse, HttpClientError.RequestError> => {
  const { body } = request
  if (body._tag === "Stream" || body._tag === "FormData") return stream(request, url, connections, body, addresses)
  return Effect.async((resume) => {
    const exchange = begin(request, url, connections, addresses)
    if (!(exchange instanceof Exchange)) return void resume(Effect.fail(exchange))
    exchange.outgoing.end(body._tag === "Empty" ? undefined : body.body)
    return exchange.listen(resume)
  })
}

const stream = (
  request: HttpClientRequest.HttpClientRequest,
  url: URL,
  connections: Connections,
  body: HttpBody.Stream | HttpBody.FormData,
  addresses: ReadonlyArray<string> | undefined
): Effect.Effect<NodeResponse, HttpClientError.RequestError> =>
  Effect.suspend(() => {
    const exchange = begin(request, url, connections, addresses)
    if (!(exchange instanceof Exchange)) return Effect.fail(exchange)
    const bytes = body._tag === "Stream" ? body.stream : encode(body.formData, exchange.outgoing)
    const response = Effect.async<NodeResponse, HttpClientError.RequestError>((resume) => exchange.listen(resume))
    return Effect.zipRight(upload(bytes, exchange), response, { concurrent: true })
  })

const begin = (
  request: HttpClientRequest.HttpClientRequest,
  url: URL,
  connections: Connections,
  addresses: ReadonlyArray<string> | undefined
): Exchange | HttpClientError.RequestError => {
  try {
    return new Exchange(request, url, connections, addresses)
  } catch (cause) {
    return failure(request, cause instanceof ConnectionError ? "Transport" : "Encode", cause)
  }
}

/** The parts of a form, and the headers that say where one ends. */
const encode = (form: FormData, outgoing: Http.ClientRequest): Stream.Stream<Uint8Array, unknown> => {
  const encoded = new Response(form)
  encoded.headers.forEach((value, name) => outgoing.setHeader(name, value))
  return encoded.body === null
    ? Stream.empty
    : Stream.fromReadableStream({
        evaluate: () => encoded.body as ReadableStream<Uint8Array>,
        onError: (error) => error
      })
}

const upload = (
  bytes: Stream.Stream<Uint8Array, unknown>,
  exchange: Exchange
): Effect.Effect<void, HttpClientError.RequestError> =>
  Stream.run(
    Stream.mapError(bytes, (cause) => exchange.failed("Encode", cause)),
    NodeSink.fromWritable(
      () => exchange.outgoing,
      (cause) => exchange.failed("Transport", cause)
    )
  )
