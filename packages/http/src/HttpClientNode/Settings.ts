/**
 * Which proxies and certificate authorities hold: what the program asks for, else what the environment says.
 */
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ConnectionError } from "../ConnectionError.ts"
import { NoProxy } from "./NoProxy.ts"
import * as ProxyServer from "./ProxyServer.ts"

/** Each one that is given stands in for its variables in the environment. */
export interface Options {
  /** For every request, as `http://user:password@host:port`; false: none. */
  readonly proxy?: string | false
  /** Hosts to reach without it, as in `NO_PROXY`. */
  readonly noProxy?: string
  /** Certificate authorities to trust besides Node's, in PEM. */
  readonly ca?: string | ReadonlyArray<string>
  /** How long a proxy may take to open a connection. Default: 30 seconds. */
  readonly proxyTimeoutMs?: number
}

export interface Settings {
  /** Undefined: there is none for any request. */
  readonly proxies: Proxies | undefined
  readonly authorities: Authorities
  readonly proxyTimeoutMs: number
}

/** What is set may be no proxy at all; that is a failure of the requests it is for. */
export type Choice = ProxyServer.ProxyServer | ConnectionError | undefined

export interface Proxies {
  readonly http: Choice
  readonly https: Choice
  readonly exceptions: NoProxy
}

/** All of them come on top of those that Node trusts. */
export interface Authorities {
  /** PEM */
  readonly given: ReadonlyArray<string>
  /** Path of `SSL_CERT_FILE` */
  readonly file: string | undefined
  /** Path of `NODE_EXTRA_CA_CERTS`, which Node knows already; only looked up when there are others. */
  readonly extra: string | undefined
}

/** Of a variable in both cases the one in lower case holds, as for curl. */
const variables = {
  all: ["all_proxy", "ALL_PROXY"],
  http: ["http_proxy", "HTTP_PROXY"],
  https: ["https_proxy", "HTTPS_PROXY"],
  exceptions: ["no_proxy", "NO_PROXY"],
  file: ["SSL_CERT_FILE"],
  extra: ["NODE_EXTRA_CA_CERTS"]
} as const

type Read = (name: string) => string | undefined

interface Variable {
  readonly name: string
  readonly value: string
}

/** The first that is set. One that is empty is not. */
const find = (read: Read, names: ReadonlyArray<string>): Variable | undefined => {
  for (const name of names) {
    const value = read(name)?.trim()
    if (value !== undefined && value !== "") return { name, value }
  }
  return undefined
}

const proxies = (read: Read, { noProxy, proxy }: Options): Proxies | undefined => {
  if (proxy === false) return undefined
  const given = proxy === undefined ? undefined : { name: "the proxy option", value: proxy }
  const choose = (names: ReadonlyArray<string>): Choice => {
    const found = given ?? find(read, names) ?? find(read, variables.all)
    return found === undefined ? undefined : ProxyServer.parse(found.value, found.name)
  }
  const http = choose(variables.http)
  const https = choose(variables.https)
  if (http === undefined && https === undefined) return undefined
  return { http, https, exceptions: new NoProxy(noProxy ?? find(read, variables.exceptions)?.value ?? "") }
}

const authorities = (read: Read, { ca }: Options): Authorities => ({
  given: ca === undefined ? [] : typeof ca === "string" ? [ca] : ca,
  file: ca === undefined ? find(read, variables.file)?.value : undefined,
  extra: find(read, variables.extra)?.value
})

/** Where Effect looks when nobody says otherwise: the environment of the process. */
const ambient = Context.get(DefaultServices.liveServices, ConfigProvider.ConfigProvider)

// What is not set takes a tenth of a millisecond to find out through a ConfigProvider whose code is cold, and nearly nothing ever is.
const environment: Effect.Effect<Read> = Effect.configProviderWith((provider) => {
  if (provider === ambient) return Effect.succeed((name) => process.env[name])
  return Effect.forEach(Object.values(variables).flat(), (name) =>
    Effect.map(
      provider.load(Config.option(Config.string(name))),
      (value) => [name, Option.getOrUndefined(value)] as const
    )
  ).pipe(
    Effect.orDie, // the environment holds nothing but strings
    Effect.map((pairs) => {
      const values: ReadonlyMap<string, string | undefined> = new Map(pairs)
      return (name) => values.get(name)
    })
  )
})

export const resolve = (options: Options): Effect.Effect<Settings> =>
  Effect.map(environment, (read) => ({
    proxies: proxies(read, options),
    authorities: authorities(read, options),
    proxyTimeoutMs: options.proxyTimeoutMs ?? 30_000
  }))

/**
 * The variables that say which proxies are used, and for what none is. A password is not in it.
 */
export const inForce: Effect.Effect<ReadonlyArray<Variable>> = Effect.map(environment, (read) => {
  const found = [variables.http, variables.https, variables.all].flatMap((names) => find(read, names) ?? [])
  const exceptions = find(read, variables.exceptions)
  const shown = found.map(({ name, value }) => {
    const proxy = ProxyServer.parse(value, name)
    return { name, value: proxy instanceof ConnectionError ? "(no proxy that can be used)" : proxy.shown }
  })
  return exceptions === undefined || shown.length === 0 ? shown : [...shown, exceptions]
})
