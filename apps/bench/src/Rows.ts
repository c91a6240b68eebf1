/**
 * The table, top to bottom. A row is one file under `rows/`.
 */
import type { Row } from "./Row.ts"
import * as Batch from "./rows/Batch.ts"
import { floors } from "./rows/Floors.ts"
import * as Hello from "./rows/Hello.ts"
import { load } from "./rows/Load.ts"
import { manyAgents } from "./rows/ManyAgents.ts"
import { stepEarly, stepLate } from "./rows/Step.ts"
import { stream, streamMemory } from "./rows/Stream.ts"
import { version } from "./rows/Version.ts"

export const rows: ReadonlyArray<Row> = [
  ...floors,
  version,
  Hello.firstRequest,
  Hello.memory,
  stepEarly,
  stepLate,
  stream,
  streamMemory,
  ...manyAgents,
  Batch.throughput,
  Batch.memory,
  load
]
