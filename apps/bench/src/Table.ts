/**
 * The table as text, one aligned Markdown row per measurement.
 */
import type { Measurement, Row } from "./Row.ts"

const header = ["what", "target", "floor", "measured", "ratio", ""]

const cells = ({ target, what }: Row, { floor, measured, meetsTarget, ratio }: Measurement): ReadonlyArray<string> => [
  what,
  target,
  floor,
  measured,
  ratio === undefined ? "" : ratio.toFixed(2),
  meetsTarget === undefined ? "" : meetsTarget ? "ok" : "MISSED"
]

/** Ends with a newline. */
export const render = (results: ReadonlyArray<readonly [Row, Measurement]>): string => {
  const lines = [header, ...results.map(([row, measurement]) => cells(row, measurement))]
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  const format = (line: ReadonlyArray<string>) =>
    `| ${line.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |\n`
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|\n`
  return lines.map((line, i) => format(line) + (i === 0 ? rule : "")).join("")
}
