/**
 * The rendered request of one session, kept between steps.
 *
 * A message is turned into wire JSON once, its bytes are kept and hashed once, and a request body is what has been kept plus the
 * suffix. So the prefix that providers cache stays byte-identical by construction, and a step costs what it adds.
 */
import type { Conversation } from "./Conversation.ts"
import type { EpochHeader, RequestFormat, RequestWriter } from "./Request.ts"

/** A running digest. `node:crypto`'s `Hash` fits. */
export interface Hasher {
  readonly update: (bytes: Uint8Array) => unknown
  readonly copy: () => Hasher
  readonly digest: (encoding: "hex") => string
}

export interface RenderedRequest {
  /** The whole body. A view into kept memory: valid until the next `render` of the same `RequestBody`. */
  readonly bytes: Uint8Array
  /** Lower-case hex digest of `bytes`. */
  readonly sha256: string
  readonly of: "wire" | "neutral"
}

export interface RequestBody {
  /** The request for `header` and the conversation as it stands. */
  readonly render: (header: EpochHeader, conversation: Conversation) => RenderedRequest
}

const encoder = new TextEncoder()
const comma = 0x2c

/** An empty body cache. `formatOf` finds the format a header names; `newHash` starts a SHA-256. */
export const make = (formatOf: (name: string) => RequestFormat, newHash: () => Hasher): RequestBody => {
  let bytes = new Uint8Array(16_384)
  let length = 0
  let hash = newHash()
  let hashed = 0
  let fragments = 0
  let messages = 0
  let generation = -1
  let header: EpochHeader | undefined
  let format: RequestFormat | undefined
  let writer: RequestWriter | undefined

  const reserve = (extra: number): void => {
    if (length + extra <= bytes.length) return
    const larger = new Uint8Array(Math.max(bytes.length * 2, length + extra))
    larger.set(bytes.subarray(0, length))
    bytes = larger
  }

  const write = (text: string): void => {
    // Three bytes a unit is the worst case of UTF-8.
    reserve(text.length * 3)
    length += encoder.encodeInto(text, bytes.subarray(length)).written
  }

  const writeFragment = (fragment: string): void => {
    if (fragments++ > 0) {
      reserve(1)
      bytes[length++] = comma
    }
    write(fragment)
  }

  const restart = (next: EpochHeader): RequestWriter => {
    const nextFormat = formatOf(next.wire.format)
    const nextWriter = nextFormat.open(next)
    header = next
    format = nextFormat
    writer = nextWriter
    length = hashed = fragments = messages = 0
    hash = newHash()
    write(nextWriter.prefix)
    for (const fragment of nextWriter.initial) writeFragment(fragment)
    return nextWriter
  }

  return {
    render: (next, conversation) => {
      let current = writer
      if (current === undefined || next !== header || generation !== conversation.generation) {
        current = restart(next)
        generation = conversation.generation
      }
      const list = conversation.messages
      for (; messages < list.length; messages++) {
        for (const fragment of current.message(list[messages]!)) writeFragment(fragment)
      }
      hash.update(bytes.subarray(hashed, length))
      hashed = length
      const kept = length
      write(current.suffix)
      const whole = bytes.subarray(0, length)
      const digest = hash.copy()
      digest.update(bytes.subarray(kept, length))
      // The suffix is written over by the next fragment.
      length = kept
      return { bytes: whole, sha256: digest.digest("hex"), of: format?.of ?? "wire" }
    }
  }
}
