/**
 * Reads a response up to a limit, decompressed. What is beyond it is neither kept nor waited for.
 */
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Transform } from "node:stream"
import * as Zlib from "node:zlib"
import { WebError } from "../WebError.ts"

/** What we ask for. Others are decompressed, too, if a server sends them all the same. */
export const accepted = "gzip, deflate, br"

export interface Body {
  readonly bytes: Uint8Array
  /** There was more. */
  readonly isCut: boolean
}

// A body that was cut off, by us or by the server, is worth what came of it.
const lenient = { finishFlush: Zlib.constants.Z_SYNC_FLUSH }

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => Zlib.createGunzip(lenient),
  "x-gzip": () => Zlib.createGunzip(lenient),
  deflate: () => Zlib.createInflate(lenient),
  br: () => Zlib.createBrotliDecompress({ finishFlush: Zlib.constants.BROTLI_OPERATION_FLUSH })
}

const failed = (cause: unknown) =>
  new WebError({
    code: "WEB_PROVIDER_ERROR",
    message: `the server broke off in the middle of its answer; try again, or another page`,
    cause
  })

/** The names in the order in which they were applied; undefined where one is not known. */
const encodingsOf = (header: string | undefined): ReadonlyArray<() => Transform> | undefined => {
  const names = (header ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity")
  const known = names.flatMap((name) => (Object.hasOwn(decoders, name) ? [decoders[name]!] : []))
  // Nobody compresses more than once who means well.
  return known.length === names.length && known.length <= 2 ? known : undefined
}

/** Both what is sent and what comes out of it are held to `maxBytes`. */
export const read = (response: HttpClientResponse, maxBytes: number): Effect.Effect<Body, WebError> =>
  Effect.suspend(() => {
    const declared = Number(response.headers["content-length"])
    if (declared > maxBytes) return tooLarge(declared, maxBytes)
    const header = response.headers["content-encoding"]
    const encodings = encodingsOf(header)
    if (encodings === undefined) return unreadable(header ?? "")
    const wire = upTo(maxBytes)
    const text = upTo(maxBytes)
    let bytes: Stream.Stream<Uint8Array, WebError> = wire.cut(
      Stream.mapError(response.stream, ({ cause }) => failed(cause))
    )
    for (const decoder of encodings.toReversed()) bytes = NodeStream.pipeThroughDuplex(bytes, decoder, undecodable)
    return Effect.map(Stream.runCollect(text.cut(bytes)), (parts) => ({
      bytes: Buffer.concat(Array.from(parts)),
      isCut: wire.isOver() || text.isOver()
    }))
  })

const upTo = (maxBytes: number) => {
  let size = 0
  return {
    /** Ends with what would be too much. */
    cut: <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E> =>
      bytes.pipe(
        Stream.map((part) => {
          const room = Math.max(0, maxBytes - size)
          size += part.length
          return { part: part.subarray(0, room), isLast: size > maxBytes }
        }),
        Stream.takeUntil(({ isLast }) => isLast),
        Stream.map(({ part }) => part)
      ),
    isOver: () => size > maxBytes
  }
}

const undecodable = (cause: unknown) =>
  new WebError({
    code: "WEB_PROVIDER_ERROR",
    message: "what the server sent cannot be decompressed; try another page",
    cause
  })

const tooLarge = (bytes: number, maxBytes: number) =>
  new WebError({
    code: "WEB_FETCH_TOO_LARGE",
    message: `the page has ${bytes} bytes, and ${maxBytes} are the limit; fetch a part of it, or download it with a command`
  })

const unreadable = (encoding: string) =>
  new WebError({
    code: "WEB_UNSUPPORTED_CONTENT_TYPE",
    message: `the page is compressed in a way that cannot be read (${encoding.slice(0, 100)}); download it with a command`
  })
