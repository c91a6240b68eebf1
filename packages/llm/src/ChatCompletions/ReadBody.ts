/**
 * Hands the bytes of a response body to plain code as they arrive.
 *
 * Node's own responses are read with callbacks: an agent step is one request, and a Stream with its channels, scopes and finalizers
 * costs more than everything else the harness does for that step. Any other response is read as the Stream it offers.
 */
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

export interface Sink {
  /** Takes one network read and says how to go on: at once, after `pause` has run, or only to see the end of the body. */
  readonly push: (bytes: Uint8Array) => "more" | "pause" | "enough"
  readonly pause: Effect.Effect<void>
}

/** A moment longer for the end of the body lets the connection be used again; in milliseconds. */
const linger = 100

/** The part of a `node:stream` Readable that is used here. */
interface Source {
  readonly readableEnded: boolean
  readonly on: (event: string, listener: (value: Uint8Array) => void) => unknown
  readonly off: (event: string, listener: (value: Uint8Array) => void) => unknown
  readonly pause: () => unknown
  readonly resume: () => unknown
  readonly destroy: () => unknown
}

const sourceOf = (response: HttpClientResponse): Source | undefined => {
  // A client that guards its responses against being forgotten wraps them.
  const inner: unknown = Reflect.get(response, "original") ?? response
  const source: unknown = typeof inner === "object" && inner !== null ? Reflect.get(inner, "source") : undefined
  return typeof source === "object" && source !== null && "readableEnded" in source && "pause" in source
    ? (source as Source)
    : undefined
}

/** Reads to the end of the body; fails with whatever cut it short. Interruption closes the connection. */
export const readBody = (
  response: HttpClientResponse,
  sink: Sink
): Effect.Effect<void, { readonly cause: unknown }> => {
  const source = sourceOf(response)
  return source === undefined
    ? Effect.mapError(
        Stream.runForEach(response.stream, (bytes) =>
          Effect.suspend(() => (sink.push(bytes) === "pause" ? sink.pause : Effect.void))
        ),
        (error) => ({ cause: error.cause ?? error })
      )
    : readSource(response, source, sink)
}

// The listeners hold the response on purpose: the platform aborts a request whose response nobody holds any more.
const readSource = (
  response: HttpClientResponse,
  source: Source,
  sink: Sink
): Effect.Effect<void, { readonly cause: unknown }> =>
  Effect.async((resume) => {
    let lingering: ReturnType<typeof setTimeout> | undefined
    const onData = (bytes: Uint8Array): void => {
      switch (sink.push(bytes)) {
        case "more":
          return
        case "enough":
          lingering ??= setTimeout(leave, linger).unref()
          return
        case "pause":
          stop()
          source.pause()
          resume(
            Effect.zipRight(
              sink.pause,
              Effect.suspend(() => readSource(response, source, sink))
            )
          )
      }
    }
    const leave = (): void => {
      close()
      resume(Effect.void)
    }
    const onEnd = (): void => {
      stop()
      resume(Effect.void)
    }
    const onError = (cause: unknown): void => {
      stop()
      resume(Effect.fail({ cause }))
    }
    const onClose = (): void =>
      onError(new Error(`the connection was closed in the middle of a response with status ${response.status}`))
    const stop = (): void => {
      clearTimeout(lingering)
      source.off("data", onData)
      source.off("end", onEnd)
      source.off("error", onError)
      source.off("close", onClose)
    }
    const close = (): void => {
      stop()
      // Whatever still comes of a connection that is being closed is nobody's business.
      source.on("error", () => {})
      source.destroy()
    }
    if (source.readableEnded) return onEnd()
    source.on("end", onEnd)
    source.on("error", onError)
    source.on("close", onClose)
    source.on("data", onData)
    source.resume()
    return Effect.sync(close)
  })
