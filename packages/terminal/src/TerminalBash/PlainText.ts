/**
 * From the bytes of a terminal to plain text: control sequences are dropped, line ends are `\n`, and the marks that the shell puts before
 * its prompt are told apart. Whatever is cut between two chunks is put together again, within a bound.
 */

export type Shown =
  | { readonly kind: "text"; readonly text: string }
  /** An operating system command: `133;D;0` for instance. */
  | { readonly kind: "command"; readonly payload: string }

// oxlint-disable no-control-regex -- they are what this is about

// CSI, strings that are ended by BEL or ST (OSC, DCS, SOS, PM, APC), and everything shorter.
const sequence = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b([\]PX^_])([^\x07\x1b]*)(?:\x07|\x1b\\)|\x1b[ -/]*[0-OQ-WYZ\\`-~]/y
/** May become a sequence with what is to come. */
const beginning = /\x1b(?:\[[\x20-?]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)$/y
const others = /[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]/g

export class PlainText {
  readonly #decoder = new TextDecoder()
  readonly #maxPending: number
  #pending = ""

  /** @param maxPending Characters after which a sequence that does not end is none. */
  constructor(maxPending: number) {
    this.#maxPending = maxPending
  }

  push(bytes: Uint8Array): ReadonlyArray<Shown> {
    let input = this.#pending + this.#decoder.decode(bytes, { stream: true })
    this.#pending = ""
    // A line end may be cut in two.
    let end = input.length
    while (input[end - 1] === "\r") end--
    if (end < input.length) {
      this.#pending = "\r"
      input = input.slice(0, end)
    }
    const shown: Array<Shown> = []
    for (let at = 0; at < input.length;) {
      const escape = input.indexOf("\x1b", at)
      const next = escape < 0 ? input.length : escape
      if (next > at) text(shown, input.slice(at, next))
      at = next
      if (escape < 0) break
      sequence.lastIndex = beginning.lastIndex = at
      const found = sequence.exec(input)
      if (found !== null) {
        const [, introducer, payload] = found
        if (introducer === "]" && payload !== undefined) shown.push({ kind: "command", payload })
        at += found[0].length
      } else if (beginning.test(input) && input.length - at <= this.#maxPending) {
        this.#pending = input.slice(at) + this.#pending
        break
      } else {
        at++
      }
    }
    return shown
  }
}

const text = (shown: Array<Shown>, raw: string): void => {
  const plain = raw.replace(/\r+\n?|\n/g, "\n").replace(others, "")
  if (plain !== "") shown.push({ kind: "text", text: plain })
}
