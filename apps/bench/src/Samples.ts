/**
 * What a repeated measurement comes to. On a shared machine the minimum says most; the median shows the noise.
 */
export interface Samples {
  readonly min: number
  readonly median: number
}

/** @param values At least one. */
export const of = (values: ReadonlyArray<number>): Samples => {
  const sorted = [...values].sort((a, b) => a - b)
  return { min: sorted[0]!, median: sorted[sorted.length >> 1]! }
}

/** `22.7 ms (median 23.4)` */
export const format = ({ median, min }: Samples, unit: string): string =>
  `${min.toFixed(1)} ${unit} (median ${median.toFixed(1)})`
