/**
 * The table, top to bottom. A row is one file under `rows/`.
 */
import type { Row } from "./Row.ts"
import { floors } from "./rows/Floors.ts"
import * as Hello from "./rows/Hello.ts"
import { version } from "./rows/Version.ts"

export const rows: ReadonlyArray<Row> = [...floors, version, Hello.firstRequest, Hello.memory]
