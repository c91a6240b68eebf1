/**
 * The web seam: search and fetch providers register here, the web tools ask here. Which provider answers does not depend on the order of
 * registration: the one that was chosen, else the only one that can be used.
 */
import * as Registry from "@dsh/kernel/Registry"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Choice from "./Choice.ts"
import { WebError } from "./WebError.ts"

export interface SearchRequest {
  readonly query: string
  /** Of the sources; more are cut off here if the provider has not done so. */
  readonly maxResults?: number
}

export interface Source {
  readonly url: string
  readonly title?: string
  readonly snippet?: string
  /** As the provider has it: a date, or words such as "2 days ago". */
  readonly publishedAt?: string
}

export interface SearchResult {
  /** An answer in prose, from providers that give one. */
  readonly content?: string
  /** The best first. */
  readonly sources: ReadonlyArray<Source>
  /** There were more. */
  readonly truncated: boolean
}

export interface FetchRequest {
  readonly url: string
}

/** An error status is a result like any other. */
export interface FetchResult {
  /** Where the redirects ended. */
  readonly url: string
  readonly statusCode: number
  readonly body: { readonly kind: "html" | "text"; readonly content: string }
  /** The body was longer. */
  readonly truncated: boolean
}

interface Provider {
  readonly id: string
  /** Whether it has what it needs, such as a key. */
  readonly available: Effect.Effect<boolean>
  /** It serves everybody and little, so it is taken only where no other can be used. */
  readonly isLastResort?: boolean
}

/** Interruption of a request has to end it promptly. */
export interface SearchProvider extends Provider {
  readonly search: (request: SearchRequest) => Effect.Effect<SearchResult, WebError>
}

export interface FetchProvider extends Provider {
  readonly fetch: (request: FetchRequest) => Effect.Effect<FetchResult, WebError>
}

export class Web extends Context.Tag("@dsh/web/Web")<
  Web,
  {
    /** For as long as the current Scope is open. Fails with `WEB_DUPLICATE_PROVIDER`. */
    readonly registerSearch: (provider: SearchProvider) => Effect.Effect<void, WebError, Scope.Scope>
    readonly registerFetch: (provider: FetchProvider) => Effect.Effect<void, WebError, Scope.Scope>
    /** Fails with one of `WEB_PROVIDER_*` when no provider, or not exactly one, can be used. */
    readonly search: (request: SearchRequest) => Effect.Effect<SearchResult, WebError>
    readonly fetch: (request: FetchRequest) => Effect.Effect<FetchResult, WebError>
  }
>() {}

export interface Options {
  /** Id of the provider to use. Default: the only one that is available. */
  readonly searchProvider?: string | undefined
  readonly fetchProvider?: string | undefined
}

const registering =
  <A extends Provider>(registry: Registry.Registry<A>) =>
  (provider: A): Effect.Effect<void, WebError, Scope.Scope> =>
    Effect.mapError(
      registry.register(provider.id, provider),
      ({ message }) => new WebError({ code: "WEB_DUPLICATE_PROVIDER", message })
    )

const upTo = (result: SearchResult, maxResults = Number.POSITIVE_INFINITY): SearchResult =>
  result.sources.length <= maxResults
    ? result
    : { ...result, sources: result.sources.slice(0, maxResults), truncated: true }

export const make = ({ fetchProvider, searchProvider }: Options = {}): Web["Type"] => {
  const searches = Registry.make<SearchProvider>("the web search providers")
  const fetches = Registry.make<FetchProvider>("the web fetch providers")
  const search = { what: "web search", option: "DSH_WEB_SEARCH_PROVIDER", configured: searchProvider }
  const fetch = { what: "web fetch", option: "DSH_WEB_FETCH_PROVIDER", configured: fetchProvider }
  return Web.of({
    registerSearch: registering(searches),
    registerFetch: registering(fetches),
    search: Effect.fn("Web.search")(function* (request) {
      const provider = yield* Choice.choose(searches.entries(), search)
      return upTo(yield* provider.search(request), request.maxResults)
    }),
    fetch: Effect.fn("Web.fetch")(function* (request) {
      const provider = yield* Choice.choose(fetches.entries(), fetch)
      return yield* provider.fetch(request)
    })
  })
}

/** The registries without providers. */
export const layer = (options?: Options): Layer.Layer<Web> => Layer.sync(Web, () => make(options))

const chosen = (name: string) =>
  Config.map(Config.option(Config.string(name)), (id) => Option.getOrUndefined(id)?.trim() || undefined)

/** `DSH_WEB_SEARCH_PROVIDER` and `DSH_WEB_FETCH_PROVIDER`; what is empty counts as not set. Texts, so none can be a wrong one. */
export const config: Config.Config<Options> = Config.all({
  searchProvider: chosen("DSH_WEB_SEARCH_PROVIDER"),
  fetchProvider: chosen("DSH_WEB_FETCH_PROVIDER")
})

export const layerConfig: Layer.Layer<Web> = Layer.effect(Web, Effect.map(Effect.orDie(config), make))

/** Registers a provider for as long as the Layer lives. */
export const layerSearch = <R>(
  provider: Effect.Effect<SearchProvider, WebError, R>
): Layer.Layer<never, WebError, Web | Exclude<R, Scope.Scope>> =>
  Layer.scopedDiscard(Effect.flatMap(provider, (made) => Effect.flatMap(Web, (web) => web.registerSearch(made))))

export const layerFetch = <R>(
  provider: Effect.Effect<FetchProvider, WebError, R>
): Layer.Layer<never, WebError, Web | Exclude<R, Scope.Scope>> =>
  Layer.scopedDiscard(Effect.flatMap(provider, (made) => Effect.flatMap(Web, (web) => web.registerFetch(made))))

export interface Lazy<R> {
  readonly id: string
  readonly isLastResort?: boolean
  /** A provider module: `() => import("@dsh/web/SearchExa")`. */
  readonly load: () => Promise<{ readonly make: () => Effect.Effect<SearchProvider, never, R> }>
}

/** A search provider whose module is loaded when somebody first wants to know anything of it. */
export const lazySearch = <R>({ id, isLastResort = false, load }: Lazy<R>): Effect.Effect<SearchProvider, never, R> =>
  Effect.gen(function* () {
    const context = yield* Effect.context<R>()
    const config = yield* Effect.configProviderWith(Effect.succeed)
    // Node loads a module once, however often it is imported.
    const provider = Effect.flatMap(Effect.promise(load), ({ make }) =>
      Effect.withConfigProvider(Effect.provide(make(), context), config)
    )
    return {
      id,
      isLastResort,
      available: Effect.flatMap(provider, ({ available }) => available),
      search: (request) => Effect.flatMap(provider, ({ search }) => search(request))
    }
  })
