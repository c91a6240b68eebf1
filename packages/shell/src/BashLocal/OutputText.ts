/**
 * From the bytes a command wrote to text that a model can read and a log can hold.
 */
import type { CollectedRead } from "@dsh/world/Subprocess"
import type { ShellOutput } from "../Shell.ts"

export const decode = ({ bytes, lossy, nextOffset, spillPath }: CollectedRead): ShellOutput => ({
  text: bytes.includes(0)
    ? `[binary output of ${nextOffset} bytes, not shown]`
    : textOf(lossy ? fromBoundary(bytes) : bytes),
  truncated: lossy,
  totalBytes: nextOffset,
  ...(lossy && spillPath !== undefined && { spillPath })
})

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8")

// A tail may begin inside a code point, whose last bytes mean nothing alone.
const fromBoundary = (bytes: Uint8Array): Uint8Array => {
  let start = 0
  while (start < 3 && start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start++
  return bytes.subarray(start)
}
