/**
 * The short lane: starts a request that needed no `@effect/cli` to be understood.
 */
import * as Dispatch from "./Dispatch.ts"
import * as Output from "./Output.ts"
import * as Process from "./Process.ts"
import type { Request } from "./Request.ts"

export const start = (request: Request): void => Process.runMain(Dispatch.run(request), Output.make(process))
