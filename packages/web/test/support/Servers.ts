/**
 * Real servers on this machine that count who comes to them.
 */
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import { Effect, Layer } from "effect"
import type { Scope } from "effect"
import * as Http from "node:http"
import type * as Net from "node:net"
import * as FetchHttp from "../../src/FetchHttp.ts"
import * as Web from "../../src/Web.ts"

export interface Counted {
  readonly port: number
  /** `http://127.0.0.1:port` */
  readonly url: string
  /** Connections so far. */
  readonly connections: () => number
  /** Paths that were asked for. */
  readonly asked: ReadonlyArray<string>
  /** Succeeds when no connection is open. */
  readonly closed: Effect.Effect<void>
}

/** On every address of this machine. */
export const server = (handler: Http.RequestListener): Effect.Effect<Counted, never, Scope.Scope> =>
  Effect.gen(function* () {
    const sockets = new Set<Net.Socket>()
    const waiting = new Set<() => void>()
    const asked: Array<string> = []
    let connections = 0
    const listening = Http.createServer((request, response) => {
      asked.push(request.url ?? "")
      handler(request, response)
    })
    listening.on("connection", (socket: Net.Socket) => {
      connections++
      sockets.add(socket)
      socket.on("error", () => {})
      socket.once("close", () => {
        sockets.delete(socket)
        if (sockets.size === 0) for (const look of waiting) look()
      })
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => void listening.listen(0, () => resume(Effect.void))),
      () =>
        Effect.async<void>((resume) => {
          listening.close(() => resume(Effect.void))
          for (const socket of sockets) socket.destroy()
        })
    )
    const { port } = listening.address() as Net.AddressInfo
    return {
      port,
      url: `http://127.0.0.1:${port}`,
      connections: () => connections,
      asked,
      closed: Effect.async<void>((resume) => {
        const look = () => {
          waiting.delete(look)
          resume(Effect.void)
        }
        waiting.add(look)
        if (sockets.size === 0) look()
      })
    }
  })

/** Answers with this body. */
export const answering = (body: string | Uint8Array, headers: Http.OutgoingHttpHeaders, status = 200) =>
  server((_, response) => response.writeHead(status, headers).end(body))

/** The web with nothing but pages, without a proxy. */
export const web = (options: FetchHttp.Options = {}): Layer.Layer<Web.Web> =>
  Layer.provideMerge(FetchHttp.layer(options), Web.layer()).pipe(
    Layer.provide(HttpClientNode.layerGuarded({ proxy: false })),
    Layer.orDie
  )

export const fetch = (url: string) => Effect.flatMap(Web.Web, (service) => service.fetch({ url }))

/** With the loopback address allowed, so that there is somebody to talk to. */
export const local: FetchHttp.Options = { allow: ["127.0.0.1"] }

/** Names that exist nowhere else, and a list of who was looked up. */
export const names = (table: Readonly<Record<string, ReadonlyArray<ReadonlyArray<string>>>>) => {
  const looked: Array<string> = []
  const resolve = (host: string): Promise<ReadonlyArray<string>> => {
    const times = looked.filter((name) => name === host).length
    looked.push(host)
    const answers = table[host]
    return answers === undefined
      ? Promise.reject(new Error("ENOTFOUND"))
      : Promise.resolve(answers[Math.min(times, answers.length - 1)] ?? [])
  }
  return { looked, resolve }
}

export const html = { "content-type": "text/html" }
export const plain = { "content-type": "text/plain" }

export const page = (body: string | Uint8Array, headers: Record<string, string>, status?: number) =>
  Effect.scoped(Effect.flatMap(answering(body, headers, status), ({ url }) => fetch(url)))

export const codeOf = <A, E extends { readonly code: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.either(effect), (outcome) => (outcome._tag === "Left" ? outcome.left.code : "fetched"))
