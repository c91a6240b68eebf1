/**
 * The last `limit` bytes of a stream in a ring, so that a flood costs neither memory nor garbage.
 */
const firstCapacity = 4096

export class TailBuffer {
  readonly #limit: number
  #ring: Buffer
  #total = 0

  constructor(limit: number) {
    this.#limit = limit
    this.#ring = Buffer.allocUnsafe(Math.min(limit, firstCapacity))
  }

  /** Bytes ever pushed. */
  get total(): number {
    return this.#total
  }

  push(bytes: Uint8Array): void {
    const skipped = Math.max(0, bytes.length - this.#limit)
    this.#reserve(this.#total + bytes.length)
    this.#total += skipped
    for (let at = skipped; at < bytes.length;) {
      const into = this.#total % this.#ring.length
      const size = Math.min(bytes.length - at, this.#ring.length - into)
      this.#ring.set(bytes.subarray(at, at + size), into)
      at += size
      this.#total += size
    }
  }

  /** A copy of what is still held at or after `offset`, and where it begins. */
  from(offset: number): { readonly bytes: Uint8Array; readonly offset: number } {
    const held = Math.min(this.#total, this.#ring.length)
    const start = Math.min(this.#total, Math.max(offset, this.#total - held, 0))
    const bytes = new Uint8Array(this.#total - start)
    for (let at = start; at < this.#total;) {
      const from = at % this.#ring.length
      const size = Math.min(this.#total - at, this.#ring.length - from)
      bytes.set(this.#ring.subarray(from, from + size), at - start)
      at += size
    }
    return { bytes, offset: start }
  }

  // Grows only while nothing has been overwritten yet, so the content is still linear and can be copied as it is.
  #reserve(total: number): void {
    const capacity = this.#ring.length
    if (total <= capacity || capacity === this.#limit) return
    const grown = Buffer.allocUnsafe(Math.min(this.#limit, Math.max(total, capacity * 2)))
    this.#ring.copy(grown, 0, 0, this.#total)
    this.#ring = grown
  }
}
