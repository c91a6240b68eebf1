/**
 * Measures the selected rows one after the other and prints the table. Fails when a target is missed.
 */
import * as Effect from "effect/Effect"
import type { Measurement, Row } from "./Row.ts"
import { rows } from "./Rows.ts"
import * as Table from "./Table.ts"

const words = process.argv.slice(2)
const selected = rows.filter(({ what }) => words.length === 0 || words.some((word) => what.includes(word)))

const main = Effect.gen(function* () {
  const results: Array<readonly [Row, Measurement]> = []
  for (const row of selected) {
    process.stderr.write(`measuring ${row.what} …\n`)
    results.push([row, yield* row.measure])
  }
  process.stdout.write(`\nNode ${process.version}, ${process.platform} ${process.arch}\n\n${Table.render(results)}`)
  return results.every(([, { meetsTarget }]) => meetsTarget !== false)
})

Effect.runCallback(main, {
  onExit: (exit) => {
    if (exit._tag === "Failure") process.stderr.write(`${String(exit.cause)}\n`)
    process.exitCode = exit._tag === "Success" && exit.value ? 0 : 1
  }
})
