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
import * as Stream from "effect/Stream"
import type { AdapterCall, LlmAdapter, LlmRequest, ModelInfo, ProviderInfo, Purpose } from "./LlmAdapter.ts"
import { LlmError } from "./LlmError.ts"
import * as RetryPolicy from "./RetryPolicy.ts"

/** What the owner of an adapter holds while it is registered. */
export interface Registration {
  /**
   * Serves the routes of another adapter from now on instead, all at once. What was prepared before keeps to the old one. Fails as
   * `register` does, and then nothing has changed.
   */
  readonly replace: (adapter: LlmAdapter) => Effect.Effect<void, LlmError>
}

export class Llm extends Context.Tag("@dsh/llm/Llm")<
  Llm,
  {
    /**
     * Serves the adapter's routes while the current Scope is open. Fails with `DUPLICATE_ADAPTER` when a route is taken, and with
     * `INVALID_ADAPTER` when there is none or one without a name; then no route is served.
     */
    readonly register: (adapter: LlmAdapter) => Effect.Effect<Registration, LlmError, Scope.Scope>
    /** The routes that are served, in order of registration. */
    readonly providers: Effect.Effect<ReadonlyArray<ProviderInfo>>
    /** Advisory list. Fails with `NO_ADAPTER` when nobody serves the route. */
    readonly models: (provider: string) => Effect.Effect<ReadonlyArray<ModelInfo>, LlmError>
    /**
     * Resolves defaults through the adapter that serves the route now. Fails with `NO_ADAPTER` when nobody does. The call is good for
     * one request, because each is logged before it is sent: another one fails with `INVALID_PREPARED_CALL`, and one after the adapter
     * is gone with `REGISTRATION_DISPOSED`.
     */
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

/** The routes that are served are others now, or served by others. */
export class LlmAdaptersUpdated extends Hook.Emit<LlmAdaptersUpdated, ReadonlyArray<ProviderInfo>>()(
  "llm/adapters-updated"
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

/** One `register`, over its replacements. */
interface Owner {
  isOpen: boolean
  adapter: LlmAdapter
}

const make = (updated: LlmAdaptersUpdated["Type"]): Llm["Type"] => {
  const routes = new Map<string, { readonly owner: Owner; readonly info: ProviderInfo }>()

  const providers = () => Array.from(routes.values(), ({ info }) => info)
  const tell = Effect.suspend(() => updated.emit(providers()))

  /** Whether `owner` may serve the routes of `adapter`. */
  const check = (owner: Owner, adapter: LlmAdapter): Effect.Effect<void, LlmError> =>
    Effect.suspend(() => {
      const ids = adapter.providers.map(({ id }) => id)
      if (ids.length === 0 || ids.includes("")) {
        const message = "the adapter names no route; give it a provider with an id"
        return Effect.fail(new LlmError({ code: "INVALID_ADAPTER", message }))
      }
      const taken = ids.find((id, i) => ids.indexOf(id) !== i || (routes.get(id)?.owner ?? owner) !== owner)
      return taken === undefined
        ? Effect.void
        : Effect.fail(
            new LlmError({
              code: "DUPLICATE_ADAPTER",
              message: `the route "${taken}" is already served; remove one of the two adapters or give it another id`
            })
          )
    })

  const serve = (owner: Owner, adapter: LlmAdapter): void => {
    owner.adapter = adapter
    const ids = new Set(adapter.providers.map(({ id }) => id))
    for (const [id, route] of routes) if (route.owner === owner && !ids.has(id)) routes.delete(id)
    for (const info of adapter.providers) routes.set(info.id, { owner, info })
  }

  const close = (owner: Owner): void => {
    owner.isOpen = false
    for (const [id, route] of routes) if (route.owner === owner) routes.delete(id)
  }

  const register = (adapter: LlmAdapter): Effect.Effect<Registration, LlmError, Scope.Scope> =>
    Effect.suspend(() => {
      const owner: Owner = { isOpen: true, adapter }
      const change = (to: LlmAdapter) =>
        Effect.zipRight(
          Effect.map(check(owner, to), () => serve(owner, to)),
          tell
        )
      return Effect.as(
        Effect.acquireRelease(change(adapter), () =>
          Effect.zipRight(
            Effect.sync(() => close(owner)),
            tell
          )
        ),
        { replace: (to) => (owner.isOpen ? change(to) : Effect.fail(disposed)) }
      )
    })

  const route = (provider: string) =>
    Effect.suspend(() => {
      const found = routes.get(provider)
      if (found !== undefined) return Effect.succeed(found.owner)
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
    providers: Effect.sync(providers),
    models: (provider) => Effect.flatMap(route(provider), ({ adapter }) => adapter.models(provider)),
    prepare: (config, purpose = "agent") =>
      Effect.flatMap(route(config.provider), (owner) =>
        Effect.map(owner.adapter.prepare(config, purpose), (call) => bound(call, owner))
      ),
    retryPolicy: (provider) => routes.get(provider)?.owner.adapter.retryPolicy ?? RetryPolicy.normal,
    format: (name) => {
      for (const { owner } of routes.values()) {
        const found = owner.adapter.formats.find((format) => format.format === name)
        if (found !== undefined) return found
      }
      return name === neutral.format ? neutral : undefined
    }
  }
}

const disposed = new LlmError({
  code: "REGISTRATION_DISPOSED",
  message: "the model adapter is not registered any more; prepare the call again"
})

const used = new LlmError({
  code: "INVALID_PREPARED_CALL",
  message: "this call has been made; prepare another one for another request"
})

/** A call that keeps to its registration. */
const bound = (call: AdapterCall, owner: Owner): AdapterCall => {
  let isUsed = false
  return {
    ...call,
    stream: (request) => {
      if (!owner.isOpen) return Stream.fail(disposed)
      if (isUsed) return Stream.fail(used)
      isUsed = true
      return call.stream(request)
    }
  }
}

/** The empty registry and the extension points. */
export const layer: Layer.Layer<Llm | LlmStream | LlmAdaptersUpdated> = Layer.syncContext(() => {
  const points = Hook.context(LlmStream, LlmAdaptersUpdated)
  return Context.add(points, Llm, make(Context.get(points, LlmAdaptersUpdated)))
})

/** An adapter as a Layer: it serves its routes for as long as the Layer lives. */
export const layerAdapter = <E, R>(
  make: Effect.Effect<LlmAdapter, E, R>
): Layer.Layer<never, E | LlmError, Llm | Exclude<R, Scope.Scope>> =>
  Layer.scopedDiscard(Effect.flatMap(make, (adapter) => Effect.flatMap(Llm, (llm) => llm.register(adapter))))
