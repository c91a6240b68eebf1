/**
 * What leaves the house of a request that a library wrote: its body and the headers of its protocol. Who is asking, and with which key,
 * is said by us.
 */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Redacted from "effect/Redacted"
import type { Endpoint, Headers } from "../ChatCompletions.ts"
import type { DialectName } from "./Relay.ts"

/** The key to send; `none` for servers that need none, `library` when the library has its own. */
export type Key = Redacted.Redacted | "none" | "library"

export interface Caller {
  readonly dialect: DialectName
  readonly endpoint: Endpoint
  readonly key: Key
  readonly headers?: Headers
  readonly userAgent: string
}

/** Headers that carry a key. */
const keys = ["authorization", "x-api-key"]

/** Libraries read these from the environment, name the machine with them, or trace with them. */
const ours =
  /^(user-agent|accept|host|content-length|connection|openai-(organization|project)|x-stainless-.*|traceparent|tracestate|b3|x-b3-.*)$/

/** The request as it is sent, and the endpoint whose failures do not show what is secret in it. */
export const prepare = (
  { dialect, endpoint, headers = {}, key, userAgent }: Caller,
  request: HttpClientRequest.HttpClientRequest
): { readonly request: HttpClientRequest.HttpClientRequest; readonly endpoint: Endpoint } => {
  const kept = Object.entries(request.headers).filter(
    ([name]) => !ours.test(name) && (key === "library" || !keys.includes(name))
  )
  const added = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), revealed(value)] as const)
  const sent: Readonly<Record<string, string>> = {
    ...Object.fromEntries(kept),
    "user-agent": userAgent,
    accept: "text/event-stream",
    ...(typeof key !== "string" && credential(dialect, Redacted.value(key))),
    ...Object.fromEntries(added)
  }
  const secrets = [
    ...(typeof key === "string" ? [] : [key]),
    ...Object.values(headers).filter((value) => Redacted.isRedacted(value)),
    ...keys.flatMap((name) => (sent[name] === undefined ? [] : [Redacted.make(sent[name].replace(/^Bearer /, ""))]))
  ]
  const { body, url, urlParams } = request
  return {
    request: HttpClientRequest.post(url, { urlParams, headers: sent, body }),
    endpoint: { ...endpoint, secrets }
  }
}

const revealed = (value: string | Redacted.Redacted): string =>
  Redacted.isRedacted(value) ? Redacted.value(value) : value

const credential = (dialect: DialectName, key: string): Readonly<Record<string, string>> =>
  dialect === "messages" ? { "x-api-key": key } : { authorization: `Bearer ${key}` }
