/**
 * `HttpClient` over `node:http`, with connections that are kept for the next request.
 *
 * Why not `@effect/platform-node`'s own: it runs a fiber for the body and one for the response, and aborts a controller per request.
 * At the tenth step of an agent, in code that is still cold, that alone takes longer than everything else the harness does for the
 * step. Here a request is one asynchronous operation.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as NodeSink from "@effect/platform-node/NodeSink"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Http from "node:http"
import * as Https from "node:https"
import { NodeResponse } from "./NodeResponse.ts"

/** A client whose connections close with the Scope. */
export const make: Effect.Effect<HttpClient.HttpClient, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => new Agents()),
    (agents) => Effect.sync(() => agents.destroy())
  ),
  (agents) => HttpClient.make((request, url) => send(request, url, agents))
)

export const layer: Layer.Layer<HttpClient.HttpClient> = Layer.scoped(HttpClient.HttpClient, make)

/** Made when first used: TLS takes longer to load than anything else a program starts with. */
class Agents {
  #http: Http.Agent | undefined
  #https: Https.Agent | undefined

  get http(): Http.Agent {
    return (this.#http ??= new Http.Agent({ keepAlive: true }))
  }

  get https(): Https.Agent {
    return (this.#https ??= new Https.Agent({ keepAlive: true }))
  }

  destroy(): void {
    this.#http?.destroy()
    this.#https?.destroy()
  }
}

const send = (
  request: HttpClientRequest.HttpClientRequest,
  url: URL,
  agents: Agents
): Effect.Effect<NodeResponse, HttpClientError.RequestError> =>
  Effect.suspend(() => {
    const options = { method: request.method, headers: request.headers }
    const outgoing =
      url.protocol === "https:"
        ? Https.request(url, { ...options, agent: agents.https })
        : Http.request(url, { ...options, agent: agents.http })
    const response = respond(outgoing, request)
    const { body } = request
    switch (body._tag) {
      case "Empty":
        outgoing.end()
        return response
      case "Uint8Array":
      case "Raw":
        outgoing.end(body.body)
        return response
      case "Stream":
        return Effect.zipRight(upload(body.stream, outgoing, request), response, { concurrent: true })
      case "FormData":
        return Effect.zipRight(upload(encode(body.formData, outgoing), outgoing, request), response, {
          concurrent: true
        })
    }
  })

const respond = (
  outgoing: Http.ClientRequest,
  request: HttpClientRequest.HttpClientRequest
): Effect.Effect<NodeResponse, HttpClientError.RequestError> =>
  Effect.async((resume) => {
    outgoing.on("error", (cause) => resume(Effect.fail(failed(request, "Transport", cause))))
    outgoing.once("response", (incoming) => resume(Effect.succeed(new NodeResponse(request, incoming))))
    return Effect.sync(() => outgoing.destroy())
  })

const failed = (
  request: HttpClientRequest.HttpClientRequest,
  reason: "Transport" | "Encode",
  cause: unknown
): HttpClientError.RequestError => new HttpClientError.RequestError({ request, reason, cause })

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
  outgoing: Http.ClientRequest,
  request: HttpClientRequest.HttpClientRequest
): Effect.Effect<void, HttpClientError.RequestError> =>
  Stream.run(
    Stream.mapError(bytes, (cause) => failed(request, "Encode", cause)),
    NodeSink.fromWritable(
      () => outgoing,
      (cause) => failed(request, "Transport", cause)
    )
  )
