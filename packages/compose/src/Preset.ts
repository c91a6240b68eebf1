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
  readonly rows: ReadonlyArray<Row>
}

export const idPattern = /^[a-z0-9][a-z0-9-]{0,63}$/

export const rowsFile = "agent.yml"
export const infoFile = "preset.yml"
