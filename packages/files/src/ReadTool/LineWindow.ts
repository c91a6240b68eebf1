/**
 * A window of lines over a stream of bytes. Whatever the size of the file and of its lines, only the window is kept.
 */
import * as Text from "@dsh/kernel/Text"

export interface Limits {
  /** The first line wanted, from 1. */
  readonly offset: number
  /** How many lines at most. */
  readonly limit: number
  /** Characters of a line that are shown. */
  readonly maxLineLength: number
  /** Bytes of text that are shown in all. */
  readonly maxBytes: number
}

export interface Line {
  readonly number: number
  readonly text: string
}

export interface Window {
  readonly lines: ReadonlyArray<Line>
  readonly totalLines: number
  /** The window ends early because of `maxBytes`. */
  readonly full: boolean
}

export interface LineWindow {
  readonly push: (bytes: Uint8Array) => void
  readonly end: () => Window
}

const feed = 0x0a

export const make = (limits: Limits): LineWindow => {
  const lines: Array<Line> = []
  // A character has at most four bytes, and one byte more tells that there is more.
  const keptBytes = limits.maxLineLength * 4 + 1
  let kept: Array<Uint8Array> = []
  let size = 0
  let number = 1
  let shownBytes = 0
  let full = false

  const wanted = () => !full && number >= limits.offset && lines.length < limits.limit

  const take = (piece: Uint8Array) => {
    if (size < keptBytes && wanted()) kept.push(piece.slice(0, keptBytes - size))
    size += piece.length
  }

  const endLine = () => {
    if (wanted()) {
      const bytes = Buffer.concat(kept)
      const text = shorten(bytes.toString("utf8").replace(/\r$/, ""), size)
      const textBytes = Text.byteLength(text) + 1
      // The first line is shown even if it alone is too much: otherwise there would be no way past it.
      if (lines.length > 0 && shownBytes + textBytes > limits.maxBytes) full = true
      else {
        lines.push({ number, text })
        shownBytes += textBytes
      }
    }
    kept = []
    size = 0
    number++
  }

  const shorten = (text: string, bytes: number): string =>
    text.length <= limits.maxLineLength && bytes <= keptBytes
      ? text
      : `${Text.head(text, limits.maxLineLength)}… (line cut, ${bytes} bytes in all)`

  return {
    push: (bytes) => {
      let start = 0
      for (let at = bytes.indexOf(feed); at !== -1; at = bytes.indexOf(feed, start)) {
        take(bytes.subarray(start, at))
        endLine()
        start = at + 1
      }
      take(bytes.subarray(start))
    },
    end: () => {
      if (size > 0) endLine()
      return { lines, totalLines: number - 1, full }
    }
  }
}
