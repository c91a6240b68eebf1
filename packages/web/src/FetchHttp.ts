/**
 * Fetches pages over HTTP, from the internet alone: every address that a name leads to is looked at before anything is sent, and the
 * connection goes to one of those. What else may be reached is listed.
 *
 * The parts that do it are loaded with the first page.
 */
import { GuardedHttp } from "@dsh/http/GuardedHttp"
import { UserAgent } from "@dsh/llm/UserAgent"
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Web from "./Web.ts"
import { WebError } from "./WebError.ts"

export const id = "http"

export interface Options {
  /** Hosts, addresses and networks to be reached although they are no part of the internet: `*.corp.example`, `10.0.0.0/8`, `[::1]:8080`. */
  readonly allow?: ReadonlyArray<string>
  /** Looks names up, once per hop. Default: as this machine does. */
  readonly resolve?: (host: string) => Promise<ReadonlyArray<string>>
  /** Default 2048 characters. */
  readonly maxUrlLength?: number
  /** Of a response, as it is sent and decompressed. Default 5 000 000. */
  readonly maxResponseBytes?: number
  /** Of its text. Default 100 000. */
  readonly maxBodyChars?: number
  /** For everything together. Default 30 seconds. */
  readonly timeout?: Duration.DurationInput
  /** That are followed, within one origin. Default 5. */
  readonly maxRedirects?: number
  /** Default: that of the product. */
  readonly userAgent?: string
}

const lookUp = async (host: string): Promise<ReadonlyArray<string>> => {
  const { promises } = process.getBuiltinModule("node:dns")
  const found = await promises.lookup(host, { all: true, verbatim: true })
  return found.map(({ address }) => address)
}

export const make = (options: Options = {}): Effect.Effect<Web.FetchProvider, never, GuardedHttp> =>
  Effect.gen(function* () {
    const { timeout = "30 seconds" } = options
    const settings = {
      http: yield* GuardedHttp,
      resolve: options.resolve ?? lookUp,
      allow: options.allow ?? [],
      userAgent: options.userAgent ?? (yield* UserAgent),
      maxUrlLength: options.maxUrlLength ?? 2048,
      maxResponseBytes: options.maxResponseBytes ?? 5_000_000,
      maxBodyChars: options.maxBodyChars ?? 100_000,
      maxRedirects: options.maxRedirects ?? 5
    }
    const parts = Effect.promise(() => import("./FetchHttp/Fetching.ts"))
    const late = () =>
      new WebError({
        code: "WEB_FETCH_TIMEOUT",
        message: `the page did not come within ${Duration.format(timeout)}; try again later, or another page`
      })
    return {
      id,
      available: Effect.succeed(true),
      fetch: ({ url }) =>
        Effect.timeoutFail(
          Effect.flatMap(parts, ({ fetch }) => fetch(url, settings)),
          { duration: timeout, onTimeout: late }
        )
    }
  })

type FetchLayer = Layer.Layer<never, WebError, Web.Web | GuardedHttp>

export const layer = (options?: Options): FetchLayer => Web.layerFetch(make(options))

/** `DSH_WEB_ALLOW`: entries of `allow`, separated by commas or blanks. They are looked at with the first page. */
export const config: Config.Config<Pick<Options, "allow">> = Config.string("DSH_WEB_ALLOW").pipe(
  Config.withDefault(""),
  Config.map((list) => ({ allow: list.split(/[\s,]+/).filter((entry) => entry !== "") }))
)

export const layerConfig = (options: Options = {}): FetchLayer =>
  Layer.unwrapEffect(Effect.map(Effect.orDie(config), (configured) => layer({ ...configured, ...options })))
