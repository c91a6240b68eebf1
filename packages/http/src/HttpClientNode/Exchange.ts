/**
 * One request on its way, until its response begins or it fails. It is listened to from the start: an error that nobody listens to
 * ends the process.
 */
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Http from "node:http"
import { ConnectionError } from "../ConnectionError.ts"
import { NodeResponse } from "../NodeResponse.ts"
import * as Connections from "./Connections.ts"
import * as Pinned from "./Pinned.ts"
import type { ProxyServer } from "./ProxyServer.ts"

type Outcome = Exit.Exit<NodeResponse, HttpClientError.RequestError>

export class Exchange {
  readonly outgoing: Http.ClientRequest
  readonly #request: HttpClientRequest.HttpClientRequest
  readonly #url: URL
  readonly #proxy: ProxyServer | undefined
  #outcome: Outcome | undefined
  #resume: ((outcome: Outcome) => void) | undefined

  /**
   * Throws what Node throws at a request that cannot be sent, and what is wrong with the proxy.
   *
   * @param addresses Where a connection of its own may go; undefined: wherever the name leads.
   */
  constructor(
    request: HttpClientRequest.HttpClientRequest,
    url: URL,
    connections: Connections.Connections,
    addresses?: ReadonlyArray<string>
  ) {
    const proxy = connections.proxyFor(url)
    if (proxy instanceof ConnectionError) throw proxy
    this.#request = request
    this.#url = url
    this.#proxy = proxy
    const { headers, method } = request
    const isPinned = proxy === undefined && addresses !== undefined
    if (isPinned && !Pinned.covers(addresses, url)) throw new Error(`${url.host} is none of the given addresses`)
    const pinned = isPinned ? { lookup: Pinned.lookup(addresses) } : {}
    this.outgoing = connections.open(url, { method, headers, ...pinned }, proxy)
    this.outgoing.on("error", (cause) => this.#settle(Exit.fail(this.failed("Transport", cause))))
    this.outgoing.once("response", (incoming) => this.#settle(this.#judge(incoming)))
  }

  /** Tells the outcome once it is known. Running the result ends the request. */
  listen(resume: (outcome: Outcome) => void): Effect.Effect<void> {
    if (this.#outcome !== undefined) resume(this.#outcome)
    this.#resume = resume
    return this.#end
  }

  readonly #end = Effect.sync(() => void this.outgoing.destroy())

  failed(reason: "Transport" | "Encode", cause: unknown): HttpClientError.RequestError {
    const ours = reason === "Transport" && cause instanceof Error
    return failure(this.#request, reason, ours ? Connections.explain(cause, this.#url, this.#proxy) : cause)
  }

  #settle(outcome: Outcome): void {
    this.#outcome ??= outcome
    this.#resume?.(outcome)
  }

  /** Inside a tunnel it is the server that answers; elsewhere only a proxy asks for a login to itself. */
  #judge(incoming: Http.IncomingMessage): Outcome {
    const { statusCode = 0, statusMessage = "" } = incoming
    if (statusCode !== 407 || this.#proxy === undefined || this.#url.protocol === "https:") {
      return Exit.succeed(new NodeResponse(this.#request, incoming))
    }
    incoming.destroy()
    return Exit.fail(
      failure(this.#request, "Transport", this.#proxy.refused(this.#url.host, statusCode, statusMessage))
    )
  }
}

export const failure = (
  request: HttpClientRequest.HttpClientRequest,
  reason: "Transport" | "Encode",
  cause: unknown
): HttpClientError.RequestError => {
  const description = describe(cause)
  return new HttpClientError.RequestError({ request, reason, cause, ...(description !== "" && { description }) })
}

/** Of several addresses that were tried Node keeps all errors, and no message. */
const describe = (cause: unknown): string => {
  if (!(cause instanceof Error)) return ""
  return cause.message === "" && "code" in cause ? String(cause.code) : cause.message
}
