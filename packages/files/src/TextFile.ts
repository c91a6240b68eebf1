/**
 * A file as text without losing a byte of it.
 *
 * Text here is a string of *units*. For UTF-8, and for encodings we do not know but that agree with ASCII, a unit is one byte: what
 * is not touched cannot be changed, valid or not. For UTF-16 a unit is one code unit. Line ends, spaces and everything else in ASCII
 * look the same in both, so editing need not know the difference.
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import { isAscii, isUtf8 } from "node:buffer"

export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "unknown"

export interface TextFile {
  readonly encoding: Encoding
  /** The byte order mark, if there is one; it is not part of the text. */
  readonly mark: Uint8Array
  readonly units: string
}

export class NotText extends Data.TaggedError("NotText")<{ readonly message: string }> {
  readonly code = "FS_NOT_TEXT"
}

const sniffedBytes = 8192
const marks = {
  "utf-8": Buffer.of(0xef, 0xbb, 0xbf),
  "utf-16le": Buffer.of(0xff, 0xfe),
  "utf-16be": Buffer.of(0xfe, 0xff)
} as const
const utf32Marks = [Buffer.of(0xff, 0xfe, 0, 0), Buffer.of(0, 0, 0xfe, 0xff)]
const noMark = Buffer.alloc(0)

const startsWith = (bytes: Uint8Array, mark: Uint8Array): boolean => mark.every((byte, i) => bytes[i] === byte)

/** What the first bytes of a file say about the rest. `unknown` is not among it: that takes reading the whole. */
export const sniff = (
  head: Uint8Array
): Either.Either<{ readonly encoding: Exclude<Encoding, "unknown">; readonly mark: Uint8Array }, NotText> => {
  if (utf32Marks.some((mark) => startsWith(head, mark))) return notText("it is encoded in UTF-32")
  for (const encoding of ["utf-8", "utf-16le", "utf-16be"] as const) {
    if (startsWith(head, marks[encoding])) return Either.right({ encoding, mark: marks[encoding] })
  }
  return head.subarray(0, sniffedBytes).includes(0)
    ? notText("it is binary")
    : Either.right({ encoding: "utf-8", mark: noMark })
}

const notText = (reason: string) => Either.left(new NotText({ message: `is not a text file: ${reason}` }))

export const open = (bytes: Uint8Array): Either.Either<TextFile, NotText> =>
  Either.flatMap(sniff(bytes), ({ encoding, mark }): Either.Either<TextFile, NotText> => {
    const body = Buffer.from(bytes.buffer, bytes.byteOffset + mark.length, bytes.length - mark.length)
    if (encoding === "utf-8") {
      return Either.right({ encoding: isUtf8(body) ? encoding : "unknown", mark, units: body.toString("latin1") })
    }
    if (body.length % 2 === 1) return notText("it begins like UTF-16 but has an odd number of bytes")
    return Either.right({ encoding, mark, units: (encoding === "utf-16le" ? body : swapped(body)).toString("utf16le") })
  })

/** The bytes of a file like `file` with other units. */
export const bytesOf = ({ encoding, mark }: TextFile, units: string): Uint8Array => {
  switch (encoding) {
    case "utf-16le":
      return Buffer.concat([mark, Buffer.from(units, "utf16le")])
    case "utf-16be":
      return Buffer.concat([mark, swapped(Buffer.from(units, "utf16le"))])
    default:
      return Buffer.concat([mark, Buffer.from(units, "latin1")])
  }
}

const swapped = (bytes: Buffer): Buffer => Buffer.from(bytes).swap16()

const isWide = (encoding: Encoding): boolean => encoding === "utf-16le" || encoding === "utf-16be"

/** `text` in the units of `encoding`. A byte order mark in front is no part of any text. */
export const unitsOf = (encoding: Encoding, text: string): string => {
  const bare = text.startsWith("\uFEFF") ? text.slice(1) : text
  return isWide(encoding) ? bare : Buffer.from(bare, "utf8").toString("latin1")
}

/** Units as a person or a model reads them; what is not valid shows as U+FFFD. */
export const textOf = (encoding: Encoding, units: string): string =>
  isWide(encoding) ? units : Buffer.from(units, "latin1").toString("utf8")

/** Whether `text` looks the same in every encoding that `encoding` may stand for. */
export const isWritable = (encoding: Encoding, text: string): boolean =>
  encoding !== "unknown" || isAscii(Buffer.from(text, "utf8"))
