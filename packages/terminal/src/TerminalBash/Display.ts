/**
 * What a terminal has shown: the last lines of it, what came since something was typed, and whether that ends in the shell's prompt.
 */
import { Capture } from "./Capture.ts"
import { PlainText } from "./PlainText.ts"
import { Scrollback } from "./Scrollback.ts"

export interface Limits {
  readonly scrollbackLines: number
  readonly scrollbackMaxBytes: number
  readonly maxReadBytes: number
}

export class Display {
  readonly scrollback: Scrollback
  readonly #plain: PlainText
  readonly #maxRead: number
  readonly #mark: RegExp
  readonly #prompt: string
  #capture: Capture
  /** What follows the last mark; undefined when it cannot be the prompt any more. */
  #sinceMark: string | undefined
  #lastAt = 0
  #watcher: (() => void) | undefined

  /** @param mark What the shell's mark looks like. @param prompt What the shell puts after it. */
  constructor(limits: Limits, mark: RegExp, prompt: string) {
    this.scrollback = new Scrollback(limits.scrollbackLines, limits.scrollbackMaxBytes)
    this.#plain = new PlainText(limits.maxReadBytes)
    this.#maxRead = limits.maxReadBytes
    this.#capture = new Capture(limits.maxReadBytes)
    this.#mark = mark
    this.#prompt = prompt
  }

  /** When something was last shown. */
  get lastAt(): number {
    return this.#lastAt
  }

  get atPrompt(): boolean {
    return this.#sinceMark === this.#prompt
  }

  push(bytes: Uint8Array, now: number): void {
    this.#lastAt = now
    for (const shown of this.#plain.push(bytes)) {
      if (shown.kind === "command") {
        if (this.#mark.test(shown.payload)) this.#sinceMark = ""
        continue
      }
      this.scrollback.push(shown.text)
      this.#capture.push(shown.text)
      if (this.#sinceMark === undefined) continue
      this.#sinceMark += shown.text
      if (this.#sinceMark.length > this.#prompt.length) this.#sinceMark = undefined
    }
    if (this.atPrompt) this.#watcher?.()
  }

  /** From here on, as if nothing had been shown before. */
  begin(): Capture {
    this.#sinceMark = undefined
    this.#capture = new Capture(this.#maxRead)
    return this.#capture
  }

  /** Calls back, once or more, when the prompt has been shown; until it is told to stop. */
  watch(watcher: () => void): () => void {
    this.#watcher = watcher
    return () => {
      if (this.#watcher === watcher) this.#watcher = undefined
    }
  }
}
