/**
 * The complete output of a stream on disk, for as long as it stays under its cap.
 *
 * Writing is synchronous on purpose: it is the backpressure. While the disk is busy nothing is read, the pipe fills, the child waits.
 */
import * as Fs from "node:fs"

export class SpillFile {
  readonly #maxBytes: number
  readonly #place: () => string
  #state: "unused" | "open" | "closed" = "unused"
  #fd = -1
  #path: string | undefined
  #bytes = 0

  constructor(maxBytes: number, place: () => string) {
    this.#maxBytes = maxBytes
    this.#place = place
  }

  get unused(): boolean {
    return this.#state === "unused"
  }

  /** Undefined before the first write, and from the moment the file could no longer be complete. */
  get path(): string | undefined {
    return this.#path
  }

  write(bytes: Uint8Array): void {
    if (this.#state === "closed") return
    try {
      if (this.#state === "unused") this.#open()
      if (this.#bytes + bytes.length > this.#maxBytes) return this.#discard()
      for (let at = 0; at < bytes.length;) at += Fs.writeSync(this.#fd, bytes, at)
      this.#bytes += bytes.length
    } catch {
      this.#discard()
    }
  }

  close(): void {
    if (this.#state === "open" && !attempt(() => Fs.closeSync(this.#fd))) this.#remove()
    this.#state = "closed"
  }

  #open(): void {
    const path = this.#place()
    this.#fd = Fs.openSync(path, "wx", 0o600)
    this.#path = path
    this.#state = "open"
  }

  #discard(): void {
    this.close()
    this.#remove()
  }

  #remove(): void {
    const path = this.#path
    this.#path = undefined
    if (path !== undefined) attempt(() => Fs.rmSync(path, { force: true }))
  }
}

// A full or broken disk costs the spill file, never the command whose output it was to hold.
const attempt = (step: () => void): boolean => {
  try {
    step()
    return true
  } catch {
    return false
  }
}
