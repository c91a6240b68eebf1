/**
 * From the bytes a command wrote to text that a model can read and a log can hold.
 */
import type { CollectedRead } from "@dsh/world/Subprocess"
import type { ShellOutput } from "../Shell.ts"

/** @param from The offset that was asked for. */
export const decode = (read: CollectedRead, from = 0): ShellOutput => {
  const { bytes, head = nothing, lossy, nextOffset, spillPath } = read
  return {
    text:
      head.includes(0) || bytes.includes(0) ? `[binary output of ${nextOffset} bytes, not shown]` : shown(read, from),
    truncated: lossy,
    totalBytes: nextOffset,
    ...(lossy && spillPath !== undefined && { spillPath })
  }
}

const nothing = new Uint8Array()

const shown = ({ bytes, head = nothing, lossy, offset }: CollectedRead, from: number): string => {
  if (!lossy) return textOf(bytes)
  const left = offset - from - head.length
  const begin = textOf(toBoundary(head))
  // At the beginning of a line of its own, and the text goes on in another.
  return `${begin}${begin === "" || begin.endsWith("\n") ? "" : "\n"}[… ${left} bytes left out …]\n${textOf(fromBoundary(bytes))}`
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8")

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
