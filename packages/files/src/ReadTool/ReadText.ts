/**
 * What the model reads of a window of lines. The footer always says whether there is more and how to get it.
 */
import { lineCount, numbered } from "../FileRegion.ts"
import { show } from "../FileTool.ts"
import type { Encoding } from "../TextFile.ts"
import type { Line } from "./LineWindow.ts"

export interface Shown {
  readonly path: string
  readonly offset: number
  readonly lines: ReadonlyArray<Line>
  readonly totalLines: number
  readonly encoding: Encoding
  readonly cutAtBytes?: number
}

export const render = (shown: Shown): string =>
  show(
    shown.path,
    shown.lines.length === 0
      ? "(the file is empty)"
      : [...shown.lines.map(({ number, text }) => numbered(number, text)), "", ...footer(shown)].join("\n")
  )

const footer = ({ cutAtBytes, encoding, lines, offset, totalLines }: Shown): ReadonlyArray<string> => {
  const last = offset + lines.length - 1
  const range = `shown ${offset}-${last} of ${totalLines}`
  const cut = cutAtBytes === undefined ? "" : `cut at ${cutAtBytes} bytes; `
  const rest = last < totalLines ? `; ${cut}next offset ${last + 1}` : "; end of file"
  return [
    offset === 1 && last === totalLines ? `(end of file, ${lineCount(totalLines)})` : `(${range}${rest})`,
    ...notice(encoding)
  ]
}

const notice = (encoding: Encoding): ReadonlyArray<string> => {
  switch (encoding) {
    case "utf-8":
      return []
    case "unknown":
      return ["(not valid UTF-8: such bytes show as \uFFFD, and edits leave them as they are)"]
    case "utf-16le":
    case "utf-16be":
      return [`(encoded in ${encoding}; edits keep it)`]
    default:
      return [`(encoded in ${encoding}, as its bytes tell; edits keep it)`]
  }
}
