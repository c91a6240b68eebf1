/**
 * One collected stream: its tail in memory, the whole of it in a file once the tail is not the whole any more.
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
  const spill = options.spill && new SpillFile(options.spill.maxBytes, placeOf(name, options.spill.folder, folder))
  return {
    push: (bytes) => {
      if (spill !== undefined && tail.total + bytes.length > options.maxBytes) {
        if (spill.unused) spill.write(tail.from(0).bytes)
        spill.write(bytes)
      }
      tail.push(bytes)
    },
    close: () => spill?.close(),
    read: (offset) => {
      const kept = tail.from(offset)
      const spillPath = spill?.path
      return {
        bytes: kept.bytes,
        offset: kept.offset,
        nextOffset: tail.total,
        lossy: kept.offset > offset,
        ...(spillPath !== undefined && { spillPath })
      }
    }
  }
}
