/**
 * What goes above the living part of the screen, once and for all: items that will not change any more, and of an answer that is being
 * written the blocks that are complete. The terminal keeps it, and nobody has to paint it again.
 */
import { marked } from "marked"
import * as Painter from "./Painter.ts"
import type { Lines } from "./Painter.ts"
import type { Item, View } from "./View.ts"

/** Up to where Markdown that is being written will not change its meaning: in front of its last block. */
export const stable = (text: string): number => {
  const tokens = marked.lexer(text)
  const last = tokens.findLastIndex(({ type }) => type !== "space")
  return tokens.slice(0, Math.max(0, last)).reduce((length, { raw }) => length + raw.length, 0)
}

/** More of an answer that is being written is too much to read anew for every frame. */
const readable = 100_000
const shown = 10_000

/** The end of a long text, as it would look behind its beginning. */
const endOf = (text: string): string => {
  if (text.length <= shown) return text
  const at = text.indexOf("\n", text.length - shown) + 1
  const fences = text.slice(0, at).match(/^ {0,3}(?:```|~~~)/gm)?.length ?? 0
  return fences % 2 === 0 ? text.slice(at) : `\`\`\`\n${text.slice(at)}`
}

const separated = (parts: ReadonlyArray<Lines>): Array<string> =>
  parts.flatMap((lines) => (lines.length === 0 ? [] : ["", ...lines]))

export class Scrollback {
  readonly #from: number
  /** The first item that is not wholly above. */
  #next: number
  /** How much of its text is. */
  #offset = 0

  /** Leaves out what comes before `from`. */
  constructor(from: number) {
    this.#from = from
    this.#next = from
  }

  /** What is new to go above. */
  advance(view: View, width: number, options: Painter.Options): Array<string> {
    const parts: Array<Lines> = []
    const settled = view.settled(this.#next)
    for (; this.#next < settled; this.#next++, this.#offset = 0) {
      parts.push(this.#paintRest(view.items[this.#next]!, width, options))
    }
    const open = view.items[this.#next]
    if (open?.kind === "answer") {
      const rest = open.text.slice(this.#offset)
      const end = rest.length > readable ? 0 : stable(rest)
      if (end > 0) {
        parts.push(Painter.markdown(rest.slice(0, end), width, options))
        this.#offset += end
      }
    }
    return separated(parts)
  }

  /** What is still changing. */
  rest(view: View, width: number, options: Painter.Options): Array<string> {
    return separated(
      view.items.slice(this.#next).map((item, i) => {
        if (item.kind !== "answer") return Painter.paint(item, width, options)
        return Painter.markdown(endOf(i === 0 ? item.text.slice(this.#offset) : item.text), width, options)
      })
    )
  }

  /** The last `rows` lines, or some more, of what went above, painted anew. */
  tail(view: View, width: number, rows: number, options: Painter.Options): Array<string> {
    let lines: Array<string> = []
    const open = view.items[this.#next]
    if (open?.kind === "answer" && this.#offset > 0) {
      lines = separated([Painter.markdown(open.text.slice(0, this.#offset), width, options)])
    }
    for (let at = this.#next - 1; at >= this.#from && lines.length < rows; at--) {
      lines = [...separated([Painter.paint(view.items[at]!, width, options)]), ...lines]
    }
    return lines
  }

  #paintRest(item: Item, width: number, options: Painter.Options): Lines {
    return item.kind === "answer" && this.#offset > 0
      ? Painter.markdown(item.text.slice(this.#offset), width, options)
      : Painter.paint(item, width, options)
  }
}
