/**
 * `https:` through a proxy: `CONNECT`, then TLS inside.
 *
 * Not one of the libraries for this: they do not take a cancel while the proxy is silent, and hand on the proxy's refusal as if the
 * server behind it had answered, or without the name of the proxy.
 */
import type * as Http from "node:http"
import type * as Https from "node:https"
import type * as Net from "node:net"
import { ConnectionError } from "../ConnectionError.ts"
import type { ProxyServer } from "./ProxyServer.ts"

export interface Route {
  readonly proxy: ProxyServer
  /** A request to the proxy itself. */
  readonly ask: (options: Http.RequestOptions) => Http.ClientRequest
  readonly timeoutMs: number
}

/** In the options of a request, which Node passes on to the connection that is made for it. */
const abandoned = Symbol("abandoned")

type Options = Https.RequestOptions & { readonly [abandoned]?: AbortSignal }

/** Makes `agent` connect through the proxy. */
export const through = (agent: Https.Agent, route: Route): Https.Agent => {
  const secure = agent.createConnection.bind(agent)
  agent.createConnection = (options: Options, callback) => {
    open(route, options, (error, socket) => {
      // The agent only looks at the error if there is one.
      if (socket === undefined) return void callback?.(error as Error, undefined as never)
      return void callback?.(null, secure({ ...options, socket } as Https.RequestOptions) as Net.Socket)
    })
    return undefined
  }
  return agent
}

/** Like `https.request`; `destroy` reaches a connection that is still being made, which Node leaves alone. */
export const request = (
  make: (options: Https.RequestOptions) => Http.ClientRequest,
  options: Https.RequestOptions
): Http.ClientRequest => {
  const controller = new AbortController()
  const outgoing = make({ ...options, [abandoned]: controller.signal } as Options)
  const destroy = outgoing.destroy.bind(outgoing)
  outgoing.destroy = (error) => {
    controller.abort()
    return destroy(error)
  }
  return outgoing
}

type Done = (error: Error | undefined, socket: Net.Socket | undefined) => void

const open = ({ ask, proxy, timeoutMs }: Route, options: Options, done: Done): void => {
  const host = options.host ?? ""
  const authority = `${host.includes(":") ? `[${host}]` : host}:${options.port ?? 443}`
  const signal = options[abandoned]
  const connect = ask({ method: "CONNECT", path: authority, headers: { host: authority, ...proxy.headers } })
  const give = (error: Error | undefined, socket?: Net.Socket): void => {
    clearTimeout(timer)
    signal?.removeEventListener("abort", abandon)
    done(error, socket)
  }
  const abandon = (): void => void connect.destroy()
  const timer = setTimeout(
    () => void connect.destroy(proxy.unusable(`did not answer for ${Math.ceil(timeoutMs / 1000)} s`)),
    timeoutMs
  )
  signal?.addEventListener("abort", abandon, { once: true })
  connect.on("error", (error) => give(explain(error, proxy)))
  connect.once("connect", (response: Http.IncomingMessage, socket: Net.Socket, head: Buffer) => {
    const status = response.statusCode ?? 0
    if (status >= 200 && status < 300) {
      if (head.length > 0) socket.unshift(head)
      return void give(undefined, socket)
    }
    socket.destroy()
    return void give(proxy.refused(authority, status, response.statusMessage ?? ""))
  })
  connect.end()
}

const noConnection = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EADDRNOTAVAIL|EACCES)$/

/** Of an error on the way to the proxy. */
export const explain = (error: Error, proxy: ProxyServer): ConnectionError | Error => {
  if (error instanceof ConnectionError) return error
  const code = "code" in error && typeof error.code === "string" ? error.code : error.message
  if (noConnection.test(code)) return proxy.unreachable(code)
  return proxy.unusable(
    code.startsWith("HPE_") ? `does not speak HTTP (${code})` : `broke off the connection (${code})`
  )
}
