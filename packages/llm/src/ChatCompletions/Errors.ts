/**
 * Failures of a request as `LlmError`s: a stable code, what the provider said, and what to do next.
 */
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { LlmError } from "../LlmError.ts"
import * as Classify from "./Classify.ts"
import { errorOf } from "./EventReader.ts"
import { excerpt, identifier, isRecord, text } from "../Lenient.ts"
import type { Raw } from "../Lenient.ts"
import type { Expiry } from "./Watchdog.ts"

/** The names a message uses to say what to check. */
export interface Endpoint {
  /** Of the provider, for people: `DeepSeek`. */
  readonly name: string
  /** Base URL as configured. */
  readonly url: string
  /** Where the key comes from, such as the name of an environment variable. */
  readonly keyName: string
  /** Where the base URL comes from. */
  readonly urlName: string
  /** What was sent and must not come back: some servers quote the key they refuse. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

/** A response that is not a success. */
export interface Refusal {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
  /** Milliseconds since the epoch, to read dates against. */
  readonly now: number
}

/** The failure behind a refusal. */
export const refused = (endpoint: Endpoint, refusal: Refusal): LlmError => {
  const { headers, now, status } = refusal
  const body = conceal(endpoint, refusal.body)
  const said = read(body)
  const code = Classify.byStatus(status, said.joined)
  const retryAfter = retryAfterMs(headers, now)
  const requestId = requestIdOf(headers)
  return new LlmError({
    code,
    message: advise(endpoint, code, said.message ?? `${endpoint.name} answered with status ${status}`, retryAfter),
    ...(status >= 100 && status <= 599 && { status }),
    ...(retryAfter !== undefined && { providerRetryAfterMs: retryAfter }),
    ...(requestId !== undefined && { requestId }),
    ...(body !== "" && { cause: excerpt(body, 4000) })
  })
}

/** The failure behind an error that arrived inside a response with status 200. */
export const inStream = (endpoint: Endpoint, error: unknown, requestId: string | undefined): LlmError => {
  const said = fields(error)
  const status = isRecord(error) && typeof error.code === "number" ? error.code : undefined
  const isStatus = status !== undefined && status >= 400 && status <= 599
  const code = isStatus ? Classify.byStatus(status, said.joined) : Classify.byWording(said.joined)
  return new LlmError({
    code,
    message: advise(endpoint, code, conceal(endpoint, said.message ?? `${endpoint.name} reported an error`), undefined),
    ...(isStatus && { status }),
    ...(requestId !== undefined && { requestId }),
    cause: conceal(endpoint, excerpt(JSON.stringify(error), 4000))
  })
}

/** The provider's id of the exchange, to be quoted in a support request. */
export const requestIdOf = (headers: Refusal["headers"]): string | undefined =>
  text(headers["x-request-id"]) ?? text(headers["x-deepseek-request-id"]) ?? text(headers["request-id"])

/** The connection failed before or during the response. */
export const transport = (endpoint: Endpoint, cause: unknown, receiving: boolean): LlmError => {
  const url = visible(endpoint.url)
  const what = receiving ? `the connection to ${url} broke` : `cannot reach ${url}`
  const known = connectionError(cause)
  if (known !== undefined) {
    // What somebody has to set right first is not tried again.
    const code = known.isTransient ? "TRANSPORT" : known.code
    return new LlmError({ code, message: `${what}: ${known.message}`, cause })
  }
  return new LlmError({
    code: "TRANSPORT",
    message: `${what}: ${explain(cause)}; check the network and ${endpoint.urlName}`,
    cause
  })
}

interface ConnectionError {
  readonly code: string
  /** Names the culprit and what to do. */
  readonly message: string
  readonly isTransient: boolean
}

/** What a client that knows about proxies and certificates says of a connection, if it is one that does. */
const connectionError = (cause: unknown): ConnectionError | undefined => {
  for (let error = cause, depth = 0; depth < 8 && Predicate.isObject(error); depth++) {
    if (Predicate.isTagged(error, "ConnectionError")) {
      const { code, isTransient, message } = error as { readonly [key: string]: unknown }
      if (typeof code === "string" && typeof message === "string")
        return { code, message, isTransient: isTransient === true }
    }
    error = Predicate.hasProperty(error, "cause") ? error.cause : undefined
  }
  return undefined
}

const clocks: Readonly<Record<Expiry["clock"], string>> = {
  transportIdle: "sent nothing",
  contentIdle: "sent nothing more of its answer",
  queued: "did not begin its answer"
}

export const timedOut = (endpoint: Endpoint, { clock, limit }: Expiry): LlmError =>
  new LlmError({
    code: "TIMEOUT",
    message: `${endpoint.name} ${clocks[clock]} for ${Math.round(limit / 1000)} s; retry, or raise the limit for slow models`
  })

export const closed = (endpoint: Endpoint): LlmError =>
  new LlmError({
    code: "STREAM_CLOSED",
    message: `${endpoint.name} closed the stream before the answer was complete; retry the request`
  })

/** An event that is not JSON. */
export const malformed = (endpoint: Endpoint, data: string): LlmError =>
  new LlmError({
    code: "MALFORMED_RESPONSE",
    message: `${endpoint.name} sent an event that is not JSON: ${excerpt(conceal(endpoint, data), 120)}; check for a proxy at ${visible(endpoint.url)}`
  })

export const emptyBody = (endpoint: Endpoint): LlmError =>
  new LlmError({ code: "EMPTY_RESPONSE", message: `${endpoint.name} answered with an empty body; retry the request` })

/** A response with status 200 that is no model response. */
export const notAModel = (endpoint: Endpoint, body: string): LlmError => {
  const said = conceal(endpoint, body)
  return new LlmError({
    code: "INVALID_RESPONSE",
    message:
      `${visible(endpoint.url)} answered with something that is not a model response (${describe(said)}); ` +
      `check ${endpoint.urlName}, and whether a proxy answers in its place`,
    cause: excerpt(said, 4000)
  })
}

/** The URL of an endpoint as it may be shown: without a user name, a password and a query. */
export const visible = (url: string): string => url.replace(/\/\/[^/@]*@/, "//").replace(/\?.*$/, "")

/** A shorter one is a placeholder, and may be part of any word. */
const shortest = 8

/** What the provider said as it may be shown. */
export const conceal = ({ secrets = [] }: Endpoint, text: string): string =>
  secrets.reduce((shown, secret) => {
    const value = Redacted.value(secret)
    return value.length < shortest ? shown : shown.replaceAll(value, "[concealed]")
  }, text)

// -----------------------------------------------------------------------------
// what the provider said
// -----------------------------------------------------------------------------

interface Said {
  readonly message: string | undefined
  /** Code, type and message, for the classifiers. */
  readonly joined: string
}

const read = (body: string): Said => {
  const parsed = parse(body)
  if (isRecord(parsed)) return fields(errorOf(parsed) ?? parsed)
  const description = body.trim() === "" ? undefined : describe(body)
  return { message: description, joined: description ?? "" }
}

const fields = (error: unknown): Said => {
  if (typeof error === "string") return { message: excerpt(error, 500), joined: error }
  if (!isRecord(error)) return { message: undefined, joined: "" }
  const message = text(error.message) ?? text(error.detail) ?? text(error.msg)
  const parts = [identifier(error.code), text(error.type), message].filter((part) => part !== undefined)
  return { message: message === undefined ? undefined : excerpt(message, 500), joined: parts.join(" ") }
}

const parse = (body: string): Raw | undefined => {
  try {
    const value: unknown = JSON.parse(body)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** One line about a body that is not JSON: the title of a page, or its first words. */
const describe = (body: string): string => {
  const title = /<(title|h1)[^>]*>([^<]{1,200})/i.exec(body)?.[2]
  if (title !== undefined) return `a web page: "${excerpt(title, 120)}"`
  return body.trimStart().startsWith("<") ? "a web page" : excerpt(body, 120)
}

// -----------------------------------------------------------------------------
// what to do next
// -----------------------------------------------------------------------------

const advise = (endpoint: Endpoint, code: string, said: string, retryAfter: number | undefined): string => {
  const sentence = said.replace(/[.\s]+$/, "")
  const next = adviceFor(endpoint, code, retryAfter)
  return next === undefined ? sentence : `${sentence}; ${next}`
}

const adviceFor = (endpoint: Endpoint, code: string, retryAfter: number | undefined): string | undefined => {
  switch (code) {
    case "AUTH":
      return `check the key in ${endpoint.keyName}`
    case "QUOTA":
      return `add credit to your ${endpoint.name} account or use another key`
    case "RATE_LIMIT":
    case "SERVER":
      return retryAfter === undefined
        ? "retry in a while"
        : `${endpoint.name} asks to wait ${Math.ceil(retryAfter / 1000)} s`
    case "CONTEXT_WINDOW_EXCEEDED":
      return "compact the session or begin a new one"
    case "HTTP_404":
      return `check ${endpoint.urlName} and the name of the model`
    default:
      return undefined
  }
}

/** `retry-after-ms`, or `Retry-After` as seconds or as a date; in milliseconds, positive only. */
export const retryAfterMs = (headers: Refusal["headers"], now: number): number | undefined => {
  const precise = Number(text(headers["retry-after-ms"]) ?? Number.NaN)
  if (precise > 0) return Math.ceil(precise)
  const value = text(headers["retry-after"])?.trim()
  if (value === undefined) return undefined
  const ms = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : isDate(value) ? Date.parse(value) - now : Number.NaN
  return ms > 0 ? Math.ceil(ms) : undefined
}

// Date.parse takes "garbage 1" for a date; an HTTP date begins with the day of the week.
const isDate = (value: string): boolean => /^[A-Z][a-z]{2,8},? /.test(value)

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  ENOTFOUND: "host name not found",
  EAI_AGAIN: "host name could not be looked up",
  ETIMEDOUT: "connection timed out",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "network unreachable",
  EPIPE: "connection closed"
}

/** The innermost cause that names itself, in words. */
const explain = (cause: unknown): string => {
  let last = "unknown reason"
  for (let at: unknown = cause, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    const code: unknown = "code" in at ? at.code : undefined
    if (typeof code === "string" && reasons[code] !== undefined) return reasons[code]
    if (typeof code === "string" && isCertificate(code)) {
      return `certificate not trusted (${code}); set NODE_EXTRA_CA_CERTS to the file of your certificate authority`
    }
    if (at.message !== "") last = excerpt(at.message, 200)
  }
  return last
}

const isCertificate = (code: string): boolean => /CERT|SELF_SIGNED|ISSUER|LEAF_SIGNATURE/.test(code)
