/**
 * Finds the point from which a text only repeats itself, while it arrives. What is not suspicious costs a look at a few characters now
 * and then: only where the latest ones stood just before as well is more of the text compared.
 */

/** A repeated part is this long at most, in characters: some paragraphs. */
const longestPeriod = 2000
/** What is shorter than this in all is no loop but emphasis, and a table has lines that are alike. */
const leastLength = 10_000
const leastRepeats = 50
/** However long the part is, so much of nothing new is enough. */
const mostLength = 40_000
/** Characters between two looks. */
const stride = 4096
/** What has to have been there before. */
const suffixLength = 64
/** A part may hold that suffix several times. */
const mostCandidates = 8

export class Periods {
  /** In pieces of at least a stride, so that a look does not copy what came long ago. */
  #pieces: Array<string> = []
  #length = 0
  #fresh = ""

  /** Whether the text goes in circles, as far as was looked. */
  push(text: string): boolean {
    this.#fresh += text
    return this.#fresh.length >= stride && this.look()
  }

  /** Whether it does now. */
  look(): boolean {
    if (this.#fresh !== "") {
      this.#pieces.push(this.#fresh)
      this.#length += this.#fresh.length
      this.#fresh = ""
      while (this.#length - this.#pieces[0]!.length >= mostLength) this.#length -= this.#pieces.shift()!.length
    }
    if (this.#length < leastLength) return false
    return this.#candidates().some((period) => this.#repeats(period))
  }

  /** Distances at which the last characters have been seen before. */
  #candidates(): ReadonlyArray<number> {
    const near = this.#last(longestPeriod + suffixLength)
    const suffix = near.slice(-suffixLength)
    const end = near.length - suffixLength
    const found: Array<number> = []
    for (let at = end; at > 0 && found.length < mostCandidates;) {
      at = near.lastIndexOf(suffix, at - 1)
      if (at === -1) break
      found.push(end - at)
    }
    return found
  }

  #repeats(period: number): boolean {
    const length = Math.min(Math.max(leastLength, period * leastRepeats), mostLength)
    if (this.#length < length) return false
    const tail = this.#last(length)
    return tail.slice(period) === tail.slice(0, -period)
  }

  #last(length: number): string {
    let size = 0
    let from = this.#pieces.length
    while (from > 0 && size < length) size += this.#pieces[--from]!.length
    return this.#pieces.slice(from).join("").slice(-length)
  }
}
