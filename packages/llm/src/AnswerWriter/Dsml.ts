/**
 * DeepSeek's tool-call markup ("DSML") where it has no business: in the text of an answer. It gets there when a server fails to turn the
 * call its model wrote into one.
 *
 * Text passes untouched; text that may be markup waits until it is known to be. None of it is ever shown, and what becomes of it is
 * decided at the end of the answer:
 *
 * - Whole calls of tools on offer, and nothing after them, are calls.
 * - Markup in code or in a quoted line, followed by prose, or repeated from the conversation is a quotation: it is text, and nobody runs it.
 * - Anything else is a leak: the answer ends with the code `SERVER`, which is tried again. Nothing is repaired.
 */
import { Block } from "./Dsml/Block.ts"
import type { MarkupCall } from "./Dsml/Block.ts"
import { Markdown } from "./Dsml/Markdown.ts"
import * as Tag from "./Dsml/Tag.ts"

export { within } from "./Dsml/Quotation.ts"

export interface Options {
  /** Names of the tools on offer. */
  readonly tools: ReadonlySet<string>
  /** Whether every line of the text stands in the conversation. */
  readonly isQuoted: (text: string) => boolean
}

export type Ending =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "calls"; readonly calls: ReadonlyArray<MarkupCall> }
  | { readonly kind: "leak" }

export class Dsml {
  /** Nothing waits, and nothing has to be followed: text without a `<` need not come through here. */
  isIdle = true
  readonly #options: Options
  /** The end of the text so far, when markup may begin with it. */
  #cut = ""
  /** What is markup unless prose follows. */
  #block: Block | undefined
  /** Follows what is shown from the first markup on: most answers have none. */
  #markdown: Markdown | undefined

  constructor(options: Options) {
    this.#options = options
  }

  /**
   * Takes the next piece of text and gives back what may be shown.
   *
   * @param shown All that was shown before.
   */
  push(piece: string, shown: string): string {
    const out = this.#push(piece, shown)
    this.isIdle = this.#cut === "" && this.#block === undefined && this.#markdown === undefined
    return out
  }

  #push(piece: string, shown: string): string {
    let out = ""
    let text = this.#cut + piece
    this.#cut = ""
    for (;;) {
      if (this.#block === undefined) {
        const found = this.#find(text, shown)
        out += text.slice(0, found.at)
        if (!found.isMarkup) {
          this.#cut = text.slice(found.at)
          return out
        }
        this.#block = new Block(text.slice(found.at))
      } else {
        this.#block.push(text)
      }
      const { prose, text: held } = this.#block
      if (prose === undefined) return out
      this.#block = undefined
      this.#markdown?.push(held.slice(0, prose))
      out += held.slice(0, prose)
      text = held.slice(prose)
    }
  }

  /** The answer is over. */
  end(): Ending {
    const block = this.#block
    if (block === undefined) return { kind: "text", text: this.#cut }
    if (!block.isCertain || this.#options.isQuoted(block.text)) return { kind: "text", text: block.text }
    const { calls } = block
    const isKnown = calls !== undefined && calls.every(({ name }) => this.#options.tools.has(name))
    return isKnown ? { kind: "calls", calls } : { kind: "leak" }
  }

  /** Where markup begins, or may begin; what comes before is followed. */
  #find(text: string, shown: string): { readonly at: number; readonly isMarkup: boolean } {
    let from = 0
    for (let at = text.indexOf("<"); at !== -1; at = text.indexOf("<", at + 1)) {
      const found = Tag.look(text, at)
      if (found === "no") continue
      if (found === "markup") this.#markdown ??= Markdown.of(shown)
      this.#markdown?.push(text.slice(from, at))
      from = at
      if (found === "perhaps") return { at, isMarkup: false }
      if (this.#markdown?.isQuoted === false) return { at, isMarkup: true }
    }
    this.#markdown?.push(text.slice(from))
    return { at: text.length, isMarkup: false }
  }
}
