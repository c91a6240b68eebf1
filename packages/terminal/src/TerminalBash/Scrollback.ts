/**
 * The last lines of a terminal, within a number of lines and of bytes. Kept in blocks, not in lines, so that a flood costs little.
 */
import { Buffer } from "node:buffer"
import type { Page } from "../Terminals.ts"

interface Block {
  text: string
  /** Line ends in it. */
  lines: number
  bytes: number
}

const blockBytes = 16 * 1024

export class Scrollback {
  readonly #maxLines: number
  readonly #maxBytes: number
  readonly #blocks: Array<Block> = []
  /** Line ends and bytes in the blocks. */
  #lines = 0
  #bytes = 0
  /** Line ends that were forgotten. */
  #forgotten = 0

  constructor(maxLines: number, maxBytes: number) {
    this.#maxLines = maxLines
    this.#maxBytes = maxBytes
  }

  push(text: string): void {
    for (let at = 0; at < text.length; at += blockBytes) this.#pushPiece(text.slice(at, at + blockBytes))
  }

  /** A page of at most `count` lines and about `maxBytes`, the newest of which is `offset` lines before the newest of all. */
  page(offset: number, count: number, maxBytes: number): Page {
    const kept = this.#blocks.map((block) => block.text).join("")
    const lines = kept.split("\n")
    // What follows the last line end is a line when there is something.
    if (lines.at(-1) === "") lines.pop()
    const surplus = Math.max(0, lines.length - this.#maxLines)
    const total = this.#forgotten + lines.length
    const to = Math.max(surplus, lines.length - offset)
    let from = Math.max(surplus, to - count)
    for (let at = to - 1, bytes = 0; at >= from; at--) {
      bytes += Buffer.byteLength(lines[at] ?? "") + 1
      if (bytes > maxBytes) from = Math.min(at + 1, to - 1)
    }
    return {
      text: lines.slice(from, to).join("\n"),
      from: Math.min(this.#forgotten + from + 1, total),
      to: this.#forgotten + to,
      total
    }
  }

  #pushPiece(piece: string): void {
    const lines = ends(piece)
    const bytes = Buffer.byteLength(piece)
    const last = this.#blocks.at(-1)
    if (last !== undefined && last.bytes + bytes <= blockBytes) {
      last.text += piece
      last.lines += lines
      last.bytes += bytes
    } else {
      this.#blocks.push({ text: piece, lines, bytes })
    }
    this.#lines += lines
    this.#bytes += bytes
    this.#forget()
  }

  #forget(): void {
    for (let [first] = this.#blocks; first !== undefined; [first] = this.#blocks) {
      if (this.#blocks.length < 2) return
      if (this.#lines - first.lines < this.#maxLines && this.#bytes <= this.#maxBytes) return
      this.#blocks.shift()
      this.#lines -= first.lines
      this.#bytes -= first.bytes
      this.#forgotten += first.lines
    }
  }
}

const ends = (text: string): number => {
  let count = 0
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++
  return count
}
