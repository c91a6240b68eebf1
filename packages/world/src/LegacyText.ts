/**
 * Text in encodings from before UTF-8, in files and in what programs print. Which one it is nobody wrote down, so it is told by the
 * bytes, and only where they leave no doubt: one encoding of a fixed list in which the whole reads like text of the language it was made
 * for, and which gives every byte back. Two such, or none, and the encoding is unknown.
 */
import * as Effect from "effect/Effect"
import * as Plausible from "./LegacyText/Plausible.ts"

/** In the order in which documentation lists them; the order decides nothing. */
export const encodings = ["gb18030", "big5", "shift_jis", "euc-jp", "euc-kr", "windows-1252", "iso-8859-1"] as const

export type LegacyEncoding = (typeof encodings)[number]

/** Text from and to bytes, without loss. */
export interface Codec {
  readonly encoding: LegacyEncoding
  readonly decode: (bytes: Uint8Array) => string
  /** For text that it has. */
  readonly encode: (text: string) => Uint8Array
  readonly has: (text: string) => boolean
}

/** Beyond that it would hold everything else up for too long. */
export const maxBytes = 8 * 1024 * 1024

/** Longer files are judged by whole lines of their beginning; that they give every byte back is always asked of the whole. */
const judgedBytes = 256 * 1024

/** The encoding of `bytes`, which are not valid UTF-8; undefined where that is not sure. The tables are loaded by the first call. */
export const recognize = (bytes: Buffer): Effect.Effect<Codec | undefined> =>
  bytes.length > maxBytes
    ? Effect.succeed(undefined)
    : Effect.map(library, (iconv) => iconv && recognized(iconv, bytes))

const recognized = (iconv: Iconv, bytes: Buffer): Codec | undefined => {
  const sample = beginning(bytes)
  const candidates = Plausible.encodingsOf(sample)
    .map((encoding) => codec(iconv, encoding))
    .filter((candidate) => givesBack(candidate, sample))
  const korean = candidates.find(({ encoding }) => encoding === "euc-kr")
  const [only, ...others] =
    korean === undefined
      ? candidates
      : Plausible.isKorean(korean.decode(sample))
        ? [korean]
        : candidates.filter((other) => other !== korean)
  if (only === undefined || others.length > 0) return undefined
  return sample === bytes || givesBack(only, bytes) ? only : undefined
}

/** What a byte without a meaning becomes, whichever it is. */
const unknown = "\uFFFD"

const givesBack = ({ decode, encode }: Codec, bytes: Buffer): boolean => {
  const text = decode(bytes)
  return !text.includes(unknown) && bytes.equals(encode(text))
}

interface Iconv {
  readonly decode: (bytes: Uint8Array, encoding: string, options: { readonly stripBOM: boolean }) => string
  readonly encode: (text: string, encoding: string, options: { readonly addBOM: boolean }) => Uint8Array
}

/** Where it is not installed, nothing is recognized, and everything else goes on. */
const library: Effect.Effect<Iconv | undefined> = Effect.orElseSucceed(
  Effect.tryPromise(async () => (await import("iconv-lite")).default),
  () => undefined
)

// The library adds to Big5 what only Hong Kong has, and that is not one code for one character.
const namesThere: Partial<Record<LegacyEncoding, string>> = { big5: "cp950", shift_jis: "cp932" }

const codec = (iconv: Iconv, encoding: LegacyEncoding): Codec => {
  const name = namesThere[encoding] ?? encoding
  const decode = (bytes: Uint8Array) => iconv.decode(bytes, name, { stripBOM: false })
  const encode = (text: string) => iconv.encode(text, name, { addBOM: false })
  return { encoding, decode, encode, has: (text) => !text.includes(unknown) && decode(encode(text)) === text }
}

const beginning = (bytes: Buffer): Buffer => {
  if (bytes.length <= judgedBytes) return bytes
  const head = bytes.subarray(0, judgedBytes)
  const end = head.lastIndexOf(0x0a)
  return end === -1 ? head : head.subarray(0, end)
}
