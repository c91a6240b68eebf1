/**
 * The short lane: starts a request that needed no `@effect/cli` to be understood, and nothing but plain text to keep its session.
 */
import * as Run from "./commands/Run.ts"
import * as Output from "./Output.ts"
import * as Process from "./Process.ts"
import type * as Request from "./Request.ts"

export const start = (request: Request.Run): void => Process.runMain(Run.run(request), Output.make(process))
