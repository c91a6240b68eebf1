/**
 * The connections of one client: kept for the next request, and closed with the client.
 */
import * as Http from "node:http"
import * as Https from "node:https"
import { ConnectionError } from "../ConnectionError.ts"
import type { ProxyServer } from "./ProxyServer.ts"
import type { Choice, Settings } from "./Settings.ts"
import { TlsAgents } from "./TlsAgents.ts"
import * as Tunnel from "./Tunnel.ts"

/** Agents are made when first used: TLS takes longer to load than anything else a program starts with. */
export class Connections {
  readonly #settings: Settings
  #tls: TlsAgents | undefined
  #http: Http.Agent | undefined
  #https: Https.Agent | undefined
  #tunnels: Https.Agent | undefined

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** The proxy on the way to `url`, if there is one. */
  proxyFor(url: URL): Choice {
    const { proxies } = this.#settings
    if (proxies === undefined) return undefined
    const proxy = url.protocol === "https:" ? proxies.https : proxies.http
    return proxy === undefined || proxies.exceptions.covers(url) ? undefined : proxy
  }

  open(url: URL, options: Http.RequestOptions, proxy: ProxyServer | undefined): Http.ClientRequest {
    if (url.protocol === "https:") {
      if (proxy === undefined) return Https.request(url, { ...options, agent: this.#secure })
      const agent = this.#through(proxy)
      return Tunnel.request((options) => Https.request(url, options), { ...options, agent })
    }
    if (proxy === undefined) return Http.request(url, { ...options, agent: this.#plain })
    return this.#ask(proxy, absolute(url, options, proxy))
  }

  destroy(): void {
    this.#http?.destroy()
    this.#https?.destroy()
    this.#tunnels?.destroy()
  }

  get #plain(): Http.Agent {
    return (this.#http ??= new Http.Agent({ keepAlive: true }))
  }

  get #secure(): Https.Agent {
    return (this.#https ??= this.#agents.make())
  }

  get #agents(): TlsAgents {
    return (this.#tls ??= new TlsAgents(this.#settings.authorities))
  }

  /** There is never more than one proxy for `https:`. */
  #through(proxy: ProxyServer): Https.Agent {
    return (this.#tunnels ??= Tunnel.through(this.#agents.make(), {
      proxy,
      ask: (options) => this.#ask(proxy, options),
      timeoutMs: this.#settings.proxyTimeoutMs
    }))
  }

  /** A request to the proxy itself. */
  #ask(proxy: ProxyServer, options: Http.RequestOptions): Http.ClientRequest {
    const { host, port } = proxy
    return proxy.isSecure
      ? Https.request({ ...options, host, port, agent: this.#secure })
      : Http.request({ ...options, host, port, agent: this.#plain })
  }
}

/** A request that leaves it to the proxy where to go: its path is the whole URL. */
const absolute = (url: URL, options: Http.RequestOptions, proxy: ProxyServer): Http.RequestOptions => ({
  ...options,
  path: `${url.protocol}//${url.host}${url.pathname}${url.search}`,
  headers: { host: url.host, ...options.headers, ...proxy.headers },
  ...(url.username !== "" && { auth: `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}` })
})

/** Of a request that got no response. */
export const explain = (error: Error, url: URL, proxy: ProxyServer | undefined): Error => {
  const code = "code" in error && typeof error.code === "string" ? error.code : ""
  if (proxy !== undefined) return url.protocol === "http:" ? Tunnel.explain(error, proxy) : error
  return /^(ENOTFOUND|EAI_AGAIN)$/.test(code)
    ? new ConnectionError({
        code: "HOST_NOT_FOUND",
        message: `the host name ${url.hostname} cannot be found (${code}); check the address and the name server`
      })
    : error
}
