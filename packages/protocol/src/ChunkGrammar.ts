/**
 * The grammar of one model answer as a check: at most one `usage`, exactly one `finish`, nothing after it, no block opened twice.
 */
import type { StreamChunk } from "./StreamChunk.ts"

export class ChunkGrammar {
  readonly #opened = new Set<number>()
  #usage = false
  #finished = false

  /** The answer is complete. */
  get finished(): boolean {
    return this.#finished
  }

  /** Why `chunk` may not come next. */
  problem(chunk: StreamChunk): string | undefined {
    if (this.#finished) return `a ${chunk.type} after the finish`
    switch (chunk.type) {
      case "usage":
        return this.#usage ? "a second usage" : undefined
      case "finish":
        return undefined
      case "block-start":
        return this.#opened.has(chunk.index) ? `block ${chunk.index} begins twice` : index(chunk.index)
      default:
        return index(chunk.index)
    }
  }

  apply(chunk: StreamChunk): void {
    if (chunk.type === "usage") this.#usage = true
    else if (chunk.type === "finish") this.#finished = true
    else this.#opened.add(chunk.index)
  }
}

const index = (value: number): string | undefined =>
  Number.isSafeInteger(value) && value >= 0 ? undefined : `a block numbered ${value}`
