/**
 * Where a call begins, for whoever judges it: tools that go on from call to call may have left the workspace folder. Ambient to the
 * policy of a call; undefined: in the workspace folder.
 */
import * as Context from "effect/Context"

export class WorkingFolder extends Context.Reference<WorkingFolder>()("@dsh/tools/WorkingFolder", {
  defaultValue: (): string | undefined => undefined
}) {}
