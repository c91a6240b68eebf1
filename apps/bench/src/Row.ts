/**
 * One line of the table: what is measured, what we hold ourselves to, and how it is measured.
 */
import type * as Effect from "effect/Effect"
import type { ProcessFailed } from "./Processes.ts"
import * as Samples from "./Samples.ts"

export interface Measurement {
  /** The same work by bare Node, measured in the same minutes. */
  readonly floor: string
  readonly measured: string
  /** Measured over floor, where that is what the target speaks of. */
  readonly ratio?: number
  /** Absent for a floor, which has no target. */
  readonly meetsTarget?: boolean
}

export interface Row {
  readonly what: string
  /** As in the list of targets; empty for a floor. */
  readonly target: string
  readonly measure: Effect.Effect<Measurement, ProcessFailed>
}

/** A target of the form "at most `limit` times the floor", held by the minima. */
export const compare = (
  floor: Samples.Samples,
  measured: Samples.Samples,
  unit: string,
  limit: number
): Measurement => ({
  floor: Samples.format(floor, unit),
  measured: Samples.format(measured, unit),
  ratio: measured.min / floor.min,
  meetsTarget: measured.min <= limit * floor.min
})
