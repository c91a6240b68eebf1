/**
 * A preset as a folder: `agent.yml` with its rows, and `preset.yml` with what people are told of it.
 */
import type { Row } from "./Row.ts"

export interface Preset {
  /** The name of its folder. */
  readonly id: string
  readonly name: string
  readonly description?: string | undefined
  /** Where it stands in a listing. */
  readonly order: number
  /** Starts from the rows of that preset. */
  readonly extends?: string | undefined
  /** Where it says so. Counts from 1. */
  readonly extendsLine?: number | undefined
  readonly rows: ReadonlyArray<Row>
}

export const idPattern = /^[a-z0-9][a-z0-9-]{0,63}$/

/** For those who chose another. */
export const idRule = "an id has lower-case letters, digits and dashes, no dash first, and no more than 64 of them"

export const rowsFile = "agent.yml"
export const infoFile = "preset.yml"
