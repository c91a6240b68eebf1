/**
 * How far a batch has come, and what it came to, as people read it.
 */
import * as Span from "@dsh/batch/Span"
import * as UsageLine from "../UsageLine.ts"
import type { Tally } from "./Tally.ts"

/** `250 of 1000 done, 3 failed, 100 running, 41.2 per second, 0.12 USD, 18.2 s left` */
export const line = (tally: Tally, elapsedMs: number): string => {
  const { bill, cancelled, done, earlier, failed, started, total } = tally
  const here = done - earlier
  const running = Math.max(0, started - here)
  const rate = elapsedMs > 0 ? here / (elapsedMs / 1000) : 0
  const parts = [`${done} of ${total} done`]
  if (failed > 0) parts.push(`${failed} failed`)
  if (cancelled > 0) parts.push(`${cancelled} cancelled`)
  parts.push(`${running} running`)
  if (here > 0) parts.push(perTime(rate))
  const money = UsageLine.cost(bill)
  if (money !== undefined) parts.push(money)
  if (here > 0 && done < total) parts.push(`${Span.show(((total - done) / rate) * 1000)} left`)
  return parts.join(", ")
}

const perTime = (rate: number): string =>
  rate >= 1 ? `${rate.toFixed(1)} per second` : `${(rate * 60).toFixed(1)} per minute`

/** What stands at the end of a batch. */
export const summary = (
  tally: Tally,
  elapsedMs: number,
  { folder }: { readonly folder: string | undefined }
): ReadonlyArray<string> => {
  const { bill, cancelled, codes, completed, done, earlier, failed, failures, folders, total } = tally
  const before = earlier === 0 ? "" : `; ${earlier} of them before`
  const kinds = Array.from(codes)
    .sort(([, a], [, b]) => b - a)
    .map(([code, count]) => `${count} ${code}`)
  const rows: Array<readonly [string, string]> = [
    ["tasks", `${total}: ${completed} completed, ${failed} failed, ${cancelled} cancelled${before}`]
  ]
  if (kinds.length > 0) rows.push(["reasons", kinds.join(", ")])
  rows.push(["used", UsageLine.text(bill)])
  rows.push(["time", `${Span.show(elapsedMs)}, ${perTime(elapsedMs > 0 ? (done - earlier) / (elapsedMs / 1000) : 0)}`])
  if (folder !== undefined && folders > 0) rows.push(["folders", `${folders} are kept under ${folder}`])
  for (const failure of failures) rows.push(["failed", failure])
  if (failed > failures.length) rows.push(["", `and ${failed - failures.length} more`])
  return rows.map(([name, text]) => `${name.padEnd(7)}  ${text}`)
}
