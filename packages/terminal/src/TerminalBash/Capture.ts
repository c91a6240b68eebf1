/**
 * What was shown since a moment: its beginning, and its very end when that is not all.
 */
const tailLength = 4096

export class Capture {
  readonly #max: number
  #head = ""
  #tail = ""
  #isAll = true

  /** @param max Characters of the beginning that are kept. */
  constructor(max: number) {
    this.#max = max
  }

  push(text: string): void {
    const room = this.#max - this.#head.length
    if (text.length <= room) {
      this.#head += text
      return
    }
    this.#head += text.slice(0, room)
    this.#isAll = false
    this.#tail = (this.#tail + text.slice(Math.max(room, text.length - tailLength))).slice(-tailLength)
  }

  get text(): string {
    return this.#head
  }

  get tail(): string | undefined {
    return this.#isAll ? undefined : this.#tail
  }
}
