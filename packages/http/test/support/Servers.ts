/**
 * Real servers on this machine: one that answers, and a forward proxy. The proxy takes every host name for this machine, so that a
 * name which exists nowhere (`api.test`) is proof of having been there.
 */
import { Deferred, Effect } from "effect"
import type { Scope } from "effect"
import { readFileSync } from "node:fs"
import * as Http from "node:http"
import * as Https from "node:https"
import * as Net from "node:net"
import { fileURLToPath } from "node:url"

export const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))

const pem = (name: string): string => readFileSync(fixture(name), "utf8")

export const authority = pem("ca.pem")

/** For `api.test` and `localhost`. */
const tls = (name: "server" | "expired") => ({ key: pem("server.key.pem"), cert: pem(`${name}.pem`) })

type Kind = "http" | "https" | "expired"

const create = (kind: Kind, handler?: Http.RequestListener): Http.Server => {
  const server = kind === "http" ? Http.createServer(handler) : Https.createServer(tlsOf(kind), handler)
  server.keepAliveTimeout = 0 // it is for the client to close what it keeps
  return server
}

const tlsOf = (kind: "https" | "expired") => tls(kind === "https" ? "server" : "expired")

/** What it listens on, and its open connections. */
const listen = (server: Net.Server): Effect.Effect<Listening, never, Scope.Scope> =>
  Effect.gen(function* () {
    const sockets = new Set<Net.Socket>()
    const waiting = new Set<() => void>()
    const check = () => waiting.forEach((look) => look())
    server.on("connection", (socket: Net.Socket) => {
      sockets.add(socket)
      socket.on("error", () => {})
      socket.once("close", () => {
        sockets.delete(socket)
        check()
      })
      check()
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () =>
        Effect.async<void>((resume) => {
          server.close(() => resume(Effect.void))
          for (const socket of sockets) socket.destroy()
        })
    )
    return {
      port: (server.address() as Net.AddressInfo).port,
      /** Succeeds when it has this many open connections. */
      open: (count: number) =>
        Effect.async<void>((resume) => {
          const look = () => {
            if (sockets.size === count && waiting.delete(look)) resume(Effect.void)
          }
          waiting.add(look)
          look()
        })
    }
  })

interface Listening {
  readonly port: number
  readonly open: (count: number) => Effect.Effect<void>
}

interface Seen {
  readonly url: string | undefined
  readonly headers: Http.IncomingHttpHeaders
  readonly body: string
  /** Tells connections apart. */
  readonly port: number | undefined
}

/** Answers `hello`. `/slow` sends `one`, and `two` when `more` is done. */
export const origin = (kind: Kind) =>
  Effect.gen(function* () {
    const seen: Array<Seen> = []
    const more = yield* Deferred.make<void>()
    const server = create(kind, (request, response) => {
      let body = ""
      request.setEncoding("utf8").on("data", (text: string) => (body += text))
      request.on("end", () => {
        seen.push({ url: request.url, headers: request.headers, body, port: request.socket.remotePort })
        if (request.url !== "/slow") return void response.end("hello")
        response.write("one")
        void Effect.runPromise(Deferred.await(more)).then(() => response.end("two"))
      })
    })
    return { ...(yield* listen(server)), seen, more }
  })

/** Takes connections, and says nothing or only this. */
export const speaking = (words?: string) =>
  listen(Net.createServer((socket) => void (words === undefined ? socket.resume() : socket.end(words))))

interface ProxyOptions {
  readonly kind?: Kind
  /** `user:password` that it asks for. */
  readonly login?: string
  /** Status for all that it is asked. */
  readonly refuse?: number
}

/** Notes what it was asked for: `CONNECT api.test:443`, `GET http://api.test/`. */
export const proxy = ({ kind = "http", login, refuse }: ProxyOptions = {}) =>
  Effect.gen(function* () {
    const asked: Array<string> = []
    const authorizations: Array<string | undefined> = []
    const refusal = (request: Http.IncomingMessage): number | undefined => {
      asked.push(`${request.method} ${request.url}`)
      const given = request.headers["proxy-authorization"]
      authorizations.push(given)
      if (login === undefined) return refuse
      return given === `Basic ${Buffer.from(login).toString("base64")}` ? refuse : 407
    }
    const server = create(kind, (request, response) => {
      const status = refusal(request)
      if (status !== undefined) return void response.writeHead(status).end("a page of the proxy")
      const { port, pathname, search } = new URL(request.url ?? "")
      const { "proxy-authorization": _, ...headers } = request.headers
      const onward = Http.request({ host: "127.0.0.1", port, path: pathname + search, method: request.method, headers })
      onward.on("response", (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers)
        answer.pipe(response)
      })
      onward.on("error", () => response.writeHead(502).end())
      request.pipe(onward)
    })
    server.on("connect", (request: Http.IncomingMessage, socket: Net.Socket, head: Buffer) => {
      const status = refusal(request)
      if (status !== undefined) {
        return void socket.end(`HTTP/1.1 ${status} ${Http.STATUS_CODES[status]}\r\ncontent-length: 0\r\n\r\n`)
      }
      const onward = Net.connect(Number(request.url?.split(":").at(-1)), "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
        onward.write(head)
        socket.pipe(onward).pipe(socket)
      })
      for (const [one, other] of [
        [socket, onward],
        [onward, socket]
      ] as const) {
        one.on("error", () => {})
        one.once("close", () => other.destroy())
      }
    })
    const listening = yield* listen(server)
    return { ...listening, asked, authorizations, url: `http://127.0.0.1:${listening.port}` }
  })
