/**
 * From the bytes a command wrote to text that a model can read and a log can hold. It is UTF-8, or else what it reads like beyond doubt;
 * what is neither is shown as far as it is UTF-8.
 */
import * as LegacyText from "@dsh/world/LegacyText"
import type { CollectedRead } from "@dsh/world/Subprocess"
import * as Effect from "effect/Effect"
import { isUtf8 } from "node:buffer"
import type { ShellOutput } from "../Shell.ts"

/** @param from The offset that was asked for. */
export const decode = (read: CollectedRead, from = 0): Effect.Effect<ShellOutput> => {
  const { bytes, head = nothing, lossy, nextOffset, spillPath } = read
  const output = (text: string, encoding?: string): ShellOutput => ({
    text,
    truncated: lossy,
    totalBytes: nextOffset,
    ...(lossy && spillPath !== undefined && { spillPath }),
    ...(encoding !== undefined && { encoding })
  })
  if (head.includes(0) || bytes.includes(0)) {
    return Effect.succeed(output(`[binary output of ${nextOffset} bytes, not shown]`))
  }
  const characters = kept(read, from, toBoundary, fromBoundary)
  if (isUtf8(characters.begin) && isUtf8(characters.end)) return Effect.succeed(output(shown(characters, utf8)))
  // Where a character of another encoding begins is only known at the beginning of a line.
  const lines = kept(read, from, toLine, fromLine)
  return Effect.map(LegacyText.recognize(Buffer.concat([lines.begin, lines.end])), (codec) =>
    codec === undefined ? output(shown(characters, utf8)) : output(shown(lines, codec.decode), codec.encoding)
  )
}

const nothing = new Uint8Array()

interface Kept {
  readonly begin: Uint8Array
  readonly end: Uint8Array
  /** Bytes between them; none: there is no `begin` either. */
  readonly left: number
}

type Cut = (bytes: Uint8Array) => Uint8Array

const kept = ({ bytes, head = nothing, lossy, offset }: CollectedRead, from: number, to: Cut, cut: Cut): Kept => {
  if (!lossy) return { begin: nothing, end: bytes, left: 0 }
  const [begin, end] = [to(head), cut(bytes)]
  return { begin, end, left: offset + bytes.length - end.length - from - begin.length }
}

const shown = ({ begin, end, left }: Kept, decoded: (bytes: Uint8Array) => string): string => {
  if (left === 0) return decoded(end)
  const text = decoded(begin)
  // At the beginning of a line of its own, and the text goes on in another.
  return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}[… ${left} bytes left out …]\n${decoded(end)}`
}

const utf8 = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8")

const newline = 0x0a
const toLine: Cut = (bytes) => bytes.subarray(0, bytes.lastIndexOf(newline) + 1)
const fromLine: Cut = (bytes) => bytes.subarray(bytes.indexOf(newline) + 1)

// A head may end inside a code point, too.
const toBoundary = (bytes: Uint8Array): Uint8Array => {
  let end = bytes.length
  while (end > 0 && bytes.length - end < 3 && (bytes[end - 1]! & 0xc0) === 0x80) end--
  const isBroken = end > 0 && bytes[end - 1]! >= 0xc0 && bytes.length - end + 1 < lengthOf(bytes[end - 1]!)
  return isBroken ? bytes.subarray(0, end - 1) : bytes
}

/** Of a code point, by its first byte. */
const lengthOf = (lead: number): number => (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2)

// A tail may begin inside a code point, whose last bytes mean nothing alone.
const fromBoundary = (bytes: Uint8Array): Uint8Array => {
  let start = 0
  while (start < 3 && start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start++
  return bytes.subarray(start)
}
