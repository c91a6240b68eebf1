/**
 * A file as text without losing a byte of it.
 *
 * Text here is a string of *units*. For UTF-8, and for encodings we do not know but that agree with ASCII, a unit is one byte: what
 * is not touched cannot be changed, valid or not. For UTF-16 and for the encodings that we recognize a unit is one code unit, and it
 * was made sure that each gives back the bytes it came from. Line ends, spaces and everything else in ASCII look the same in all of
 * them, so editing need not know the difference.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { isAscii, isUtf8 } from "node:buffer"
import * as LegacyText from "@dsh/world/LegacyText"

/** What can be told by the first bytes of a file. */
export type MarkedEncoding = "utf-8" | "utf-16le" | "utf-16be"

export const encodings = ["utf-8", "utf-16le", "utf-16be", ...LegacyText.encodings, "unknown"] as const

export type Encoding = (typeof encodings)[number]

export interface TextFile {
  readonly encoding: Encoding
  /** The byte order mark, if there is one; it is not part of the text. */
  readonly mark: Uint8Array
  readonly units: string
  /** Of an encoding that was recognized by the content. */
  readonly codec?: LegacyText.Codec
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

/** What the first bytes of a file say about the rest. Where they have no mark, `utf-8` is a guess. */
export const sniff = (
  head: Uint8Array
): Either.Either<{ readonly encoding: MarkedEncoding; readonly mark: Uint8Array }, NotText> => {
  if (utf32Marks.some((mark) => startsWith(head, mark))) return notText("it is encoded in UTF-32")
  for (const encoding of ["utf-8", "utf-16le", "utf-16be"] as const) {
    if (startsWith(head, marks[encoding])) return Either.right({ encoding, mark: marks[encoding] })
  }
  return head.subarray(0, sniffedBytes).includes(0)
    ? notText("it is binary")
    : Either.right({ encoding: "utf-8", mark: noMark })
}

const notText = (reason: string) => Either.left(new NotText({ message: `is not a text file: ${reason}` }))

/** A file that is not valid UTF-8 is read as what it most certainly is, or else as of unknown encoding. */
export const open = (bytes: Uint8Array): Effect.Effect<TextFile, NotText> =>
  Effect.flatMap(sniff(bytes), ({ encoding, mark }): Effect.Effect<TextFile, NotText> => {
    const body = Buffer.from(bytes.buffer, bytes.byteOffset + mark.length, bytes.length - mark.length)
    if (encoding === "utf-8") {
      if (isUtf8(body)) return Effect.succeed({ encoding, mark, units: body.toString("latin1") })
      return mark.length > 0
        ? Effect.succeed(unknown(body, mark))
        : Effect.map(LegacyText.recognize(body), opened(body))
    }
    if (body.length % 2 === 1) return notText("it begins like UTF-16 but has an odd number of bytes")
    return Effect.succeed({
      encoding,
      mark,
      units: (encoding === "utf-16le" ? body : swapped(body)).toString("utf16le")
    })
  })

const unknown = (body: Buffer, mark: Uint8Array): TextFile => ({
  encoding: "unknown",
  mark,
  units: body.toString("latin1")
})

const opened =
  (body: Buffer) =>
  (codec: LegacyText.Codec | undefined): TextFile =>
    codec === undefined
      ? unknown(body, noMark)
      : { encoding: codec.encoding, mark: noMark, units: codec.decode(body), codec }

/** The bytes of a file like `file` with other units; the units have to be its own, or of text that is not `unwritable`. */
export const bytesOf = ({ codec, encoding, mark }: TextFile, units: string): Uint8Array => {
  switch (encoding) {
    case "utf-16le":
      return Buffer.concat([mark, Buffer.from(units, "utf16le")])
    case "utf-16be":
      return Buffer.concat([mark, swapped(Buffer.from(units, "utf16le"))])
    default:
      return codec === undefined ? Buffer.concat([mark, Buffer.from(units, "latin1")]) : codec.encode(units)
  }
}

const swapped = (bytes: Buffer): Buffer => Buffer.from(bytes).swap16()

const isBytes = (encoding: Encoding): boolean => encoding === "utf-8" || encoding === "unknown"

/** `text` in the units of `file`. A byte order mark in front is no part of any text. */
export const unitsOf = ({ encoding }: TextFile, text: string): string => {
  const bare = text.startsWith("\uFEFF") ? text.slice(1) : text
  return isBytes(encoding) ? Buffer.from(bare, "utf8").toString("latin1") : bare
}

/** Units as a person or a model reads them; what is not valid shows as U+FFFD. */
export const textOf = ({ encoding }: TextFile, units: string): string =>
  isBytes(encoding) ? Buffer.from(units, "latin1").toString("utf8") : units

/** Why `text` cannot be put into the file; undefined if it can. Of an unknown encoding all we know is that it agrees with ASCII. */
export const unwritable = (file: TextFile, text: string): string | undefined => {
  const { codec, encoding } = file
  if (encoding === "unknown") {
    return isAscii(Buffer.from(text, "utf8"))
      ? undefined
      : "is not valid UTF-8 and its encoding is unknown, so only ASCII text can be put into it"
  }
  if (codec === undefined || codec.has(unitsOf(file, text))) return undefined
  const strange = Array.from(text).find((character) => !codec.has(character))
  return `is encoded in ${encoding}, which has no ${JSON.stringify(strange ?? text)}`
}
