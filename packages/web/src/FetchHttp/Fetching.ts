/**
 * One fetch, over its redirects: each hop is judged anew, and only those within one origin are followed.
 */
import type { GuardedHttp } from "@dsh/http/GuardedHttp"
import * as Text from "@dsh/kernel/Text"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { FetchResult } from "../Web.ts"
import { WebError } from "../WebError.ts"
import * as AllowList from "./AllowList.ts"
import * as Body from "./Body.ts"
import * as Charset from "./Charset.ts"
import * as ContentType from "./ContentType.ts"
import * as Destination from "./Destination.ts"
import { lighten } from "./Lighten.ts"
import * as Target from "./Target.ts"

export interface Settings {
  readonly http: GuardedHttp["Type"]
  readonly resolve: Destination.Resolve
  readonly allow: ReadonlyArray<string>
  readonly userAgent: string
  readonly maxUrlLength: number
  readonly maxResponseBytes: number
  readonly maxBodyChars: number
  readonly maxRedirects: number
}

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

export const fetch = (address: string, settings: Settings): Effect.Effect<FetchResult, WebError> =>
  Effect.gen(function* () {
    const { maxRedirects, maxUrlLength } = settings
    const allow = yield* allowed(settings.allow)
    let target = yield* Target.parse(address, maxUrlLength)
    for (let followed = 0; ; followed++) {
      const found = yield* hop(target, allow, settings)
      if ("statusCode" in found) return found
      if (followed === maxRedirects) return yield* endless(target, maxRedirects)
      target = found
    }
  })

/** What is there, or where it leads to. The connection is closed when that is known. */
const hop = (
  target: Target.Target,
  allow: AllowList.AllowList,
  settings: Settings
): Effect.Effect<FetchResult | Target.Target, WebError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const response = yield* send(target, allow, settings)
      const location = response.headers["location"]
      if (!isRedirect(response.status) || location === undefined) return yield* read(response, target, settings)
      const next = yield* Target.parse(location, settings.maxUrlLength, target.url.href)
      return next.url.origin === target.url.origin ? next : yield* elsewhere(target, next)
    })
  )

const allowed = (entries: ReadonlyArray<string>): Effect.Effect<AllowList.AllowList, WebError> => {
  const list = AllowList.parse(entries)
  if (!("invalid" in list)) return Effect.succeed(list)
  return new WebError({
    code: "WEB_BLOCKED_URL",
    message: `the list of hosts that may be fetched holds "${list.invalid}", which is no host, address or network; correct DSH_WEB_ALLOW`
  })
}

const send = (
  target: Target.Target,
  allow: AllowList.AllowList,
  { http, resolve, userAgent }: Settings
): Effect.Effect<HttpClientResponse, WebError, Scope.Scope> =>
  Effect.gen(function* () {
    const addresses = yield* Destination.of(target, { allow, resolve }, http.isProxied(target.url))
    const request = HttpClientRequest.get(target.url.href, {
      headers: {
        accept:
          "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.9, application/xml;q=0.9, */*;q=0.1",
        "accept-encoding": Body.accepted,
        "user-agent": userAgent
      }
    })
    return yield* Effect.mapError(http.send(request, addresses), (error) => unreachable(target, error))
  })

const unreachable = ({ url }: Target.Target, error: { readonly description?: string; readonly cause?: unknown }) =>
  new WebError({
    code: "WEB_PROVIDER_ERROR",
    message: `${url.host} could not be reached (${error.description ?? "the connection failed"}); check the address, or try again`,
    cause: error.cause
  })

const elsewhere = (from: Target.Target, { url }: Target.Target) =>
  new WebError({
    code: "WEB_REDIRECT_BLOCKED",
    message: `${from.url.origin} redirects to another site, which was not followed; if that is what you want, fetch ${url.href}`
  })

const endless = ({ url }: Target.Target, maxRedirects: number) =>
  new WebError({
    code: "WEB_REDIRECT_BLOCKED",
    message: `${url.origin} redirects more than ${maxRedirects} times; try another page`
  })

const empty = new Set([204, 205, 304])

const read = (
  response: HttpClientResponse,
  { url }: Target.Target,
  { maxBodyChars, maxResponseBytes }: Settings
): Effect.Effect<FetchResult, WebError> =>
  Effect.gen(function* () {
    const header = response.headers["content-type"]
    const isEmpty = empty.has(response.status) || response.headers["content-length"] === "0"
    const type = ContentType.parse(header ?? (isEmpty ? "text/plain" : ""))
    if (type === undefined) return yield* unsupported(header)
    const { bytes, isCut } = yield* Body.read(response, maxResponseBytes)
    const whole = Charset.decode(bytes, type, isCut)
    const text = type.kind === "html" && whole.length > maxBodyChars ? lighten(whole) : whole
    const content = Text.wellFormed(Text.head(text, maxBodyChars))
    return {
      url: url.href,
      statusCode: response.status,
      body: { kind: type.kind, content },
      truncated: isCut || text.length > maxBodyChars
    }
  })

const unsupported = (header: string | undefined) => {
  const type = (header ?? "").split(";")[0]!.trim().slice(0, 100)
  const advice = "download it with a command and look at it there"
  const what = type === "" ? "does not say what it is" : `is ${type}, which cannot be shown as text`
  const pdf = type.toLowerCase() === "application/pdf" ? " (pdftotext makes text of it)" : ""
  return new WebError({
    code: "WEB_UNSUPPORTED_CONTENT_TYPE",
    message: `what is there ${what}; ${advice}${pdf}`
  })
}
