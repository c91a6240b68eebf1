/**
 * Whether the next character of a Markdown text is quoted: in a fence, in a span, in a line that is indented as code is, or behind a `>`.
 */

export class Markdown {
  #fence: string | undefined
  /** The line that is not over yet. */
  #line = ""

  static of(text: string): Markdown {
    const self = new Markdown()
    self.push(text)
    return self
  }

  push(text: string): void {
    const lines = (this.#line + text).split("\n")
    this.#line = lines.pop() ?? ""
    for (const line of lines) this.#pass(line)
  }

  get isQuoted(): boolean {
    return this.#fence !== undefined || /^(?: {4}|\t| {0,3}>)/.test(this.#line) || hasOpenSpan(this.#line)
  }

  // Models put fences into lists and quotations, so whatever may stand before one there is no obstacle.
  #pass(line: string): void {
    const [, run = "", rest = ""] = /^[\s>]*(?:(?:[-*+]|\d+[.)])\s+)?(`{3,}|~{3,})(.*)$/.exec(line) ?? []
    if (run === "") return
    if (this.#fence === undefined) {
      if (!(run.startsWith("`") && rest.includes("`"))) this.#fence = run
    } else if (run.startsWith(this.#fence) && rest.trim() === "") {
      this.#fence = undefined
    }
  }
}

/** A run of backticks is closed by the next run of the same length. */
const hasOpenSpan = (line: string): boolean => {
  let open = 0
  for (const [run] of line.matchAll(/`+/g)) {
    if (open === 0) open = run.length
    else if (open === run.length) open = 0
  }
  return open !== 0
}
