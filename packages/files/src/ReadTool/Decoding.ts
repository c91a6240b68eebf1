/**
 * From the bytes of a file to UTF-8 bytes without a byte order mark, piece by piece.
 */
import * as Either from "effect/Either"
import { sniff } from "../TextFile.ts"
import type { MarkedEncoding, NotText } from "../TextFile.ts"

export interface Decoding {
  readonly encoding: MarkedEncoding
  readonly decode: (bytes: Uint8Array) => Uint8Array
  /** What is left over at the end of the file. */
  readonly end: () => Uint8Array
}

/** How the file that begins with `head` is to be read. `decode` is to be called with `head` first. */
export const of = (head: Uint8Array): Either.Either<Decoding, NotText> =>
  Either.map(sniff(head), ({ encoding, mark }) => {
    let skip = mark.length
    const body = (bytes: Uint8Array) => {
      const rest = bytes.subarray(skip)
      skip = 0
      return rest
    }
    if (encoding === "utf-8") return { encoding, decode: body, end: () => nothing }
    const decoder = new TextDecoder(encoding)
    return {
      encoding,
      decode: (bytes) => Buffer.from(decoder.decode(body(bytes), { stream: true })),
      end: () => Buffer.from(decoder.decode())
    }
  })

const nothing = new Uint8Array(0)
