// The client against a real server: what arrives, what is reused, and that nothing stays open.
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"

interface Seen {
  readonly method: string | undefined
  readonly headers: Http.IncomingHttpHeaders
  readonly body: string
  readonly port: number | undefined
}

/** Answers by path; `hang` never answers, `half` answers and never ends. */
const server = Effect.gen(function* () {
  const seen: Array<Seen> = []
  const closed = yield* Deferred.make<void>()
  const arrived = yield* Deferred.make<void>()
  const listener = Http.createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => (body += text))
    response.on("close", () => {
      if (!response.writableFinished) Deferred.unsafeDone(closed, Effect.void)
    })
    request.on("end", () => {
      seen.push({ method: request.method, headers: request.headers, body, port: request.socket.remotePort })
      Deferred.unsafeDone(arrived, Effect.void)
      if (request.url === "/hang") return
      response.writeHead(request.url === "/teapot" ? 418 : 200, { "content-type": "text/plain", "set-cookie": "a=b" })
      if (request.url === "/half") return void response.write("half")
      response.end(request.url === "/json" ? '{"a":[1]}' : "héllo")
    })
  })
  yield* Effect.acquireRelease(
    Effect.async<void>((resume) => void listener.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.async<void>((resume) => {
        listener.closeAllConnections()
        listener.close(() => resume(Effect.void))
      })
  )
  const { port } = listener.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, seen, arrived, closed }
})

describe("HttpClientNode", () => {
  it.scopedLive("reads a response in every form", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const client = yield* HttpClient.HttpClient
      const teapot = yield* client.get(`${url}/teapot`)
      assert.strictEqual(teapot.status, 418)
      assert.strictEqual(teapot.headers["content-type"], "text/plain")
      assert.strictEqual(yield* teapot.text, "héllo")
      assert.deepStrictEqual(yield* (yield* client.get(`${url}/json`)).json, { a: [1] })
      const bytes = yield* (yield* client.get(url)).arrayBuffer
      assert.strictEqual(new TextDecoder().decode(bytes), "héllo")
      const parts = yield* Stream.runCollect((yield* client.get(url)).stream)
      assert.strictEqual(Buffer.concat([...parts]).toString(), "héllo")
    }).pipe(Effect.provide(HttpClientNode.layer))
  )

  it.scopedLive("sends a body in every form", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* server
      const client = yield* HttpClient.HttpClient
      const send = (request: HttpClientRequest.HttpClientRequest) =>
        Effect.flatMap(client.execute(request), (response) => response.text)
      const post = HttpClientRequest.post(url, { headers: { "x-mine": "1" } })
      yield* send(HttpClientRequest.bodyUint8Array(post, new TextEncoder().encode("bytes"), "application/json"))
      yield* send(
        HttpClientRequest.bodyStream(
          post,
          Stream.make(new TextEncoder().encode("str"), new TextEncoder().encode("eam"))
        )
      )
      const form = new FormData()
      form.set("field", "value")
      yield* send(HttpClientRequest.bodyFormData(post, form))
      const [bytes, stream, multipart] = seen
      assert.deepStrictEqual([bytes?.method, bytes?.body, bytes?.headers["content-length"]], ["POST", "bytes", "5"])
      assert.strictEqual(bytes?.headers["x-mine"], "1")
      assert.strictEqual(stream?.body, "stream")
      assert.match(multipart?.headers["content-type"] ?? "", /^multipart\/form-data; boundary=/)
      assert.include(multipart?.body, "value")
    }).pipe(Effect.provide(HttpClientNode.layer))
  )

  it.scopedLive("uses one connection for requests that follow each other", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* server
      const client = yield* HttpClient.HttpClient
      for (let i = 0; i < 3; i++) yield* Effect.flatMap(client.get(url), (response) => response.text)
      assert.strictEqual(new Set(seen.map(({ port }) => port)).size, 1)
    }).pipe(Effect.provide(HttpClientNode.layer))
  )

  it.scopedLive("interruption closes the connection before the response", () =>
    Effect.gen(function* () {
      const { arrived, closed, url } = yield* server
      const client = yield* HttpClient.HttpClient
      const fiber = yield* Effect.fork(client.get(`${url}/hang`))
      yield* Deferred.await(arrived)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(closed)
    }).pipe(Effect.provide(HttpClientNode.layer))
  )

  it.scopedLive("and in the middle of its body", () =>
    Effect.gen(function* () {
      const { closed, url } = yield* server
      const client = yield* HttpClient.HttpClient
      const response = yield* client.get(`${url}/half`)
      const first = yield* Stream.runHead(response.stream)
      assert.strictEqual(first._tag, "Some")
      yield* Deferred.await(closed)
    }).pipe(Effect.provide(HttpClientNode.layer))
  )

  it.scopedLive("a connection that is refused is a transport error", () =>
    Effect.gen(function* () {
      const { url } = yield* Effect.scoped(server)
      const client = yield* HttpClient.HttpClient
      const error = yield* Effect.flip(client.get(url))
      assert.deepInclude(error, { _tag: "RequestError", reason: "Transport" })
      assert.include(error.message, "ECONNREFUSED")
    }).pipe(Effect.provide(HttpClientNode.layer))
  )

  it.scopedLive("a request that cannot be written down is an error like others", () =>
    Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient
      const error = yield* Effect.flip(client.get("http://127.0.0.1", { headers: { "x-mine": "a\nb" } }))
      assert.deepInclude(error, { _tag: "RequestError", reason: "Encode" })
    }).pipe(Effect.provide(HttpClientNode.layer))
  )
})
