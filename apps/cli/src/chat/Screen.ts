/**
 * The lower end of a terminal: a part that is repainted where it changes, below lines that are written once and scroll away.
 *
 * Nothing is ever erased above what was written here, and the scrollback belongs to the user.
 */
import { CURSOR_MARKER, truncateToWidth, visibleWidth } from "@earendil-works/pi-tui"
import * as Safe from "./Safe.ts"

export interface Size {
  readonly columns: number
  readonly rows: number
}

export interface Frame {
  /** Written for good, above the rest. */
  readonly above: ReadonlyArray<string>
  /** Takes the place of what was there before. One of them may have the mark of the cursor. */
  readonly live: ReadonlyArray<string>
}

const [begin, end] = ["\u001b[?2026h", "\u001b[?2026l"]
const [showCursor, hideCursor] = ["\u001b[?25h", "\u001b[?25l"]
const eraseBelow = "\u001b[J"

const up = (rows: number): string => (rows > 0 ? `\u001b[${rows}A` : "")
const down = (rows: number): string => (rows > 0 ? `\u001b[${rows}B` : "")

interface Placed {
  readonly lines: ReadonlyArray<string>
  readonly cursor: { readonly row: number; readonly column: number } | undefined
}

// oxlint-disable-next-line no-control-regex
const drawnCursor = /\u001b\[7m(.*?)\u001b\[0m/su

/** Takes the mark out, and with it the painted cursor: there is a real one. A line that is too long would be two. */
const place = (lines: ReadonlyArray<string>, color: boolean, columns: number): Placed => {
  let cursor: Placed["cursor"]
  const clean = lines.map((line, row) => {
    const at = line.indexOf(CURSOR_MARKER)
    if (at === -1) return Safe.painted(visibleWidth(line) > columns ? truncateToWidth(line, columns, "") : line, color)
    const before = line.slice(0, at)
    cursor = { row, column: visibleWidth(before) }
    return Safe.painted(before + line.slice(at + CURSOR_MARKER.length).replace(drawnCursor, "$1"), color)
  })
  return { lines: clean, cursor }
}

export class Screen {
  readonly #write: (text: string) => void
  readonly #color: boolean
  #lines: ReadonlyArray<string> = []
  /** The line of the living part that the cursor stands in. */
  #row = 0

  constructor(write: (text: string) => void, color: boolean) {
    this.#write = write
    this.#color = color
  }

  paint({ above, live }: Frame, { columns, rows }: Size): void {
    const placed = place(live.length > rows ? live.slice(live.length - rows) : live, this.#color, columns)
    const body = above.length > 0 ? this.#written(above, placed.lines) : this.#changed(placed.lines)
    const cursor = this.#point(placed)
    this.#lines = placed.lines
    if (body !== "" || cursor !== "") this.#write(begin + hideCursor + body + cursor + end)
  }

  /** Erases all that is seen and writes it anew: the terminal has another size, or what was written looks otherwise now. */
  repaint(frame: Frame, size: Size): void {
    this.#lines = []
    this.#row = 0
    this.#write(`\u001b[H${eraseBelow}`)
    this.paint(frame, size)
  }

  /** The living part goes, and the cursor stands where it was, for whoever writes next. */
  leave(): string {
    const text = `${up(this.#row)}\r${eraseBelow}${showCursor}`
    this.#lines = []
    this.#row = 0
    return text
  }

  /** The living part gives way to lines that stay. */
  #written(above: ReadonlyArray<string>, live: ReadonlyArray<string>): string {
    const text = [...above.map((line) => Safe.painted(line, this.#color)), ...live].join("\r\n")
    const from = this.#row
    this.#row = Math.max(0, live.length - 1)
    return `${up(from)}\r${eraseBelow}${text}`
  }

  #changed(lines: ReadonlyArray<string>): string {
    let out = ""
    let row = this.#row
    const old = this.#lines
    for (let i = 0; i < lines.length; i++) {
      if (i < old.length && old[i] === lines[i]) continue
      if (i < Math.max(1, old.length)) out += `${up(row - i)}${down(i - row)}\r`
      else {
        // Below what was there a line is made by a line feed, which scrolls where it has to.
        out += `${down(i - 1 - row)}\r\n`
      }
      out += `\u001b[2K${lines[i]}`
      row = i
    }
    if (lines.length < old.length) {
      const first = lines.length
      out += `${up(row - first)}${down(first - row)}\r${eraseBelow}`
      row = first
    }
    this.#row = row
    return out
  }

  #point({ cursor, lines }: Placed): string {
    const row = cursor?.row ?? Math.max(0, lines.length - 1)
    const move = `${up(this.#row - row)}${down(row - this.#row)}`
    this.#row = row
    return cursor === undefined ? move : `${move}\u001b[${cursor.column + 1}G${showCursor}`
  }
}
