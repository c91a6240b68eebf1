/**
 * The model seam: adapters register the routes they serve, callers prepare a call and stream it.
 *
 * `Llm.layer` is the registry; it knows no provider. `LlmStream` is the middleware around every request, agent turns and auxiliary
 * calls alike.
 */
import * as Hook from "@dsh/kernel/Hook"
import { neutral } from "@dsh/protocol/NeutralRequest"
import type { LlmCallConfig, RequestFormat } from "@dsh/protocol/Request"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { AdapterCall, LlmAdapter, LlmRequest, ModelInfo, ProviderInfo, Purpose } from "./LlmAdapter.ts"
import { LlmError } from "./LlmError.ts"
import * as RetryPolicy from "./RetryPolicy.ts"

export class Llm extends Context.Tag("@dsh/llm/Llm")<
  Llm,
  {
    /** Serves the adapter's routes while the current Scope is open. Fails with `DUPLICATE_ADAPTER` when a route is taken. */
    readonly register: (adapter: LlmAdapter) => Effect.Effect<void, LlmError, Scope.Scope>
    /** The routes that are served, in order of registration. */
    readonly providers: Effect.Effect<ReadonlyArray<ProviderInfo>>
    /** Advisory list. Fails with `NO_ADAPTER` when nobody serves the route. */
    readonly models: (provider: string) => Effect.Effect<ReadonlyArray<ModelInfo>, LlmError>
    /** Resolves defaults through the adapter that serves the route now. Fails with `NO_ADAPTER` when nobody does. */
    readonly prepare: (config: LlmCallConfig, purpose?: Purpose) => Effect.Effect<AdapterCall, LlmError>
    /** That of the adapter that serves the route now; the normal one where nobody does. */
    readonly retryPolicy: (provider: string) => RetryPolicy.RetryPolicy
    /** A request format by the name that headers use. */
    readonly format: (name: string) => RequestFormat | undefined
  }
>() {}

/** Middleware around the chunk stream of a request. It may observe, delay or replace the stream, never the request. */
export class LlmStream extends Hook.Waterfall<LlmStream, LlmRequest, Stream.Stream<StreamChunk, LlmError>, LlmError>()(
  "llm/stream"
) {}

/** The chunks of one request: middleware around the adapter. */
export const stream = (
  call: AdapterCall,
  request: LlmRequest
): Effect.Effect<Stream.Stream<StreamChunk, LlmError>, LlmError, LlmStream> =>
  // Whatever a middleware passes on: what is sent is what was logged.
  Effect.flatMap(LlmStream, (point) => point.run(request, () => Effect.succeed(call.stream(request))))

/** The chunk that stands for a failed stream in the log, where raw chunks are kept. */
export const failed = (error: LlmError): StreamChunk => ({
  type: "finish",
  reason: { kind: "error", failure: error.failure }
})

const make = (): Llm["Type"] => {
  const routes = new Map<string, { readonly adapter: LlmAdapter; readonly info: ProviderInfo }>()

  const register = (adapter: LlmAdapter) =>
    Effect.acquireRelease(
      Effect.suspend(() => {
        const taken = adapter.providers.find(({ id }) => routes.has(id))
        if (taken !== undefined) {
          return Effect.fail(
            new LlmError({
              code: "DUPLICATE_ADAPTER",
              message: `the route "${taken.id}" is already served; remove one of the two adapters or give it another id`
            })
          )
        }
        for (const info of adapter.providers) routes.set(info.id, { adapter, info })
        return Effect.void
      }),
      () =>
        Effect.sync(() => {
          for (const { id } of adapter.providers) if (routes.get(id)?.adapter === adapter) routes.delete(id)
        })
    )

  const route = (provider: string) =>
    Effect.suspend(() => {
      const found = routes.get(provider)
      if (found !== undefined) return Effect.succeed(found.adapter)
      const known = [...routes.keys()].join(", ")
      return Effect.fail(
        new LlmError({
          code: "NO_ADAPTER",
          message: `no model adapter serves "${provider}"; ${known === "" ? "none is registered" : `registered: ${known}`}`
        })
      )
    })

  return {
    register,
    providers: Effect.sync(() => Array.from(routes.values(), ({ info }) => info)),
    models: (provider) => Effect.flatMap(route(provider), (adapter) => adapter.models(provider)),
    prepare: (config, purpose = "agent") =>
      Effect.flatMap(route(config.provider), (adapter) => adapter.prepare(config, purpose)),
    retryPolicy: (provider) => routes.get(provider)?.adapter.retryPolicy ?? RetryPolicy.normal,
    format: (name) => {
      for (const { adapter } of routes.values()) {
        const found = adapter.formats.find((format) => format.format === name)
        if (found !== undefined) return found
      }
      return name === neutral.format ? neutral : undefined
    }
  }
}

/** The empty registry and the middleware point. */
export const layer: Layer.Layer<Llm | LlmStream> = Layer.syncContext(() =>
  Context.add(Hook.context(LlmStream), Llm, make())
)

/** An adapter as a Layer: it serves its routes for as long as the Layer lives. */
export const layerAdapter = <E, R>(
  make: Effect.Effect<LlmAdapter, E, R>
): Layer.Layer<never, E | LlmError, Llm | Exclude<R, Scope.Scope>> =>
  Layer.scopedDiscard(Effect.flatMap(make, (adapter) => Effect.flatMap(Llm, (llm) => llm.register(adapter))))
