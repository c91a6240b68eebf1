/**
 * What a batch has come to so far, in numbers.
 */
import type { BatchResult } from "@dsh/batch/BatchResult"
import * as Prices from "@dsh/protocol/Prices"
import * as UsageTally from "@dsh/protocol/UsageTally"
import * as Bill from "../Bill.ts"

/** Enough to see what is wrong; the others are in the results. */
const mostShown = 10

export class Tally {
  readonly total: number
  completed = 0
  failed = 0
  cancelled = 0
  /** From before this process. */
  earlier = 0
  started = 0
  bill = Bill.none
  folders = 0
  isOutOfMoney = false
  readonly codes = new Map<string, number>()
  readonly failures: Array<string> = []

  constructor(total: number) {
    this.total = total
  }

  take(result: BatchResult, isEarlier = false): void {
    const { cost, error, folder, id, status, usage } = result
    this[status]++
    if (isEarlier) this.earlier++
    if (folder !== undefined) this.folders++
    const more =
      cost === undefined ? Prices.none : { amounts: new Map(Object.entries(cost.amounts)), unknown: cost.unknown }
    this.bill = { tally: UsageTally.add(this.bill.tally, usage), cost: Prices.add(this.bill.cost, more) }
    if (error === undefined) return
    this.codes.set(error.code, (this.codes.get(error.code) ?? 0) + 1)
    if (error.code === "BATCH_BUDGET") this.isOutOfMoney = true
    if (status === "failed" && this.failures.length < mostShown) {
      this.failures.push(`${id}: ${error.code}: ${error.message}`)
    }
  }

  get done(): number {
    return this.completed + this.failed + this.cancelled
  }
}
