/**
 * HTTP for addresses that somebody else chose, such as a model: the caller looks a name up, judges what it found, and the connection
 * goes there and nowhere else. Nobody looks the name up a second time, so it cannot have moved in between.
 *
 * It is a service of its own so that it cannot be had without the addresses. Its connections are used for one request each.
 */
import type { RequestError } from "@effect/platform/HttpClientError"
import type { HttpClientRequest } from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export class GuardedHttp extends Context.Tag("@dsh/http/GuardedHttp")<
  GuardedHttp,
  {
    /** Whether a proxy is on the way. It looks names up itself: what is judged here is then not what it connects to for sure. */
    readonly isProxied: (url: URL) => boolean
    /**
     * Sends one request. Redirects are not followed and bodies not decompressed. The connection closes with the Scope.
     *
     * @param addresses Of the host of the URL, without brackets; where a proxy is on the way they are not used. A host that is written
     *   as an address has to be among them.
     */
    readonly send: (
      request: HttpClientRequest,
      addresses: ReadonlyArray<string>
    ) => Effect.Effect<HttpClientResponse, RequestError, Scope.Scope>
  }
>() {}
