/**
 * One collected stream: its beginning and its tail in memory, the whole of it in a file once they are not the whole any more.
 */
import type { Collect, CollectedRead } from "../Subprocess.ts"
import type { PrivateFolder } from "./PrivateFolder.ts"
import { SpillFile } from "./SpillFile.ts"
import { TailBuffer } from "./TailBuffer.ts"

export interface OutputCollector {
  readonly push: (bytes: Uint8Array) => void
  /** No more bytes will come. */
  readonly close: () => void
  readonly read: (offset: number) => CollectedRead
}

const placeOf = (name: string, wanted: string | undefined, folder: PrivateFolder) => () =>
  wanted === undefined ? folder.place(name, ".log") : folder.placeIn(wanted, name, ".log")

export const make = (name: string, options: Collect, folder: PrivateFolder): OutputCollector => {
  const tail = new TailBuffer(options.maxBytes)
  const { headBytes = 0, maxBytes } = options
  const head = new HeadBuffer(headBytes)
  const spill = options.spill && new SpillFile(options.spill.maxBytes, placeOf(name, options.spill.folder, folder))
  return {
    push: (bytes) => {
      if (tail.total + bytes.length > maxBytes) {
        if (spill?.unused === true) spill.write(tail.from(0).bytes)
        spill?.write(bytes)
      }
      head.push(bytes)
      tail.push(bytes)
    },
    close: () => spill?.close(),
    read: (offset) => {
      const kept = tail.from(offset)
      const spillPath = spill?.path
      const isWhole = kept.offset <= Math.max(offset, head.bytes.length)
      const missing = isWhole ? head.bytes.subarray(offset, kept.offset) : nothing
      return {
        bytes: missing.length === 0 ? kept.bytes : Buffer.concat([missing, kept.bytes]),
        offset: isWhole ? Math.min(offset, tail.total) : kept.offset,
        nextOffset: tail.total,
        lossy: !isWhole,
        ...(!isWhole && offset === 0 && headBytes > 0 && { head: head.bytes }),
        ...(spillPath !== undefined && { spillPath })
      }
    }
  }
}

const nothing = Buffer.alloc(0)

/** The first `limit` bytes of a stream. */
class HeadBuffer {
  readonly #limit: number
  #buffer: Buffer = nothing
  #size = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  push(bytes: Uint8Array): void {
    if (this.#size === this.#limit) return
    if (this.#size === 0) this.#buffer = Buffer.allocUnsafe(this.#limit)
    const part = bytes.subarray(0, this.#limit - this.#size)
    this.#buffer.set(part, this.#size)
    this.#size += part.length
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#size)
  }
}
