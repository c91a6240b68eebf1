/**
 * Whether bytes that come in pieces are valid UTF-8. A piece may end inside of a character.
 */
import { isUtf8 } from "node:buffer"

export interface Validity {
  readonly push: (bytes: Uint8Array) => void
  /** Whether all that came was valid. */
  readonly end: () => boolean
}

export const make = (): Validity => {
  let rest = new Uint8Array(0)
  let isValid = true
  return {
    push: (bytes) => {
      if (!isValid) return
      const joined = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
      const end = lastBoundary(joined)
      isValid = isUtf8(joined.subarray(0, end))
      rest = Uint8Array.from(joined.subarray(end))
    },
    end: () => isValid && isUtf8(rest)
  }
}

/** Where the last character begins, if it may go on beyond `bytes`; else their end. */
const lastBoundary = (bytes: Uint8Array): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if (byte < 0x80) break
    if (byte >= 0xc0) return bytes.length - back
  }
  return bytes.length
}
