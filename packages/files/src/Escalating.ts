/**
 * What the tools that change files have in common where a call may ask for more rights than its session has.
 */
import * as Escalation from "@dsh/sandbox/Escalation"
import type { ToolError } from "@dsh/tools/ToolError"
import * as Schema from "effect/Schema"
import * as FileTool from "./FileTool.ts"

type Extended<Fields extends Schema.Struct.Fields> = Schema.Struct<Fields & typeof Escalation.fields>

/** `fields` as parameters, with those for asking if `escalation`. */
export const parameters = <Fields extends Schema.Struct.Fields>(
  fields: Fields,
  escalation: boolean
): Extended<Fields> =>
  // Both are optional, so without them it is a struct where they are never there.
  Schema.Struct({ ...fields, ...(escalation && Escalation.fields) }) as unknown as Extended<Fields>

/** `FileTool.failed`, and how to ask where the sandbox is what stands in the way. */
export const failed =
  (escalation: boolean) =>
  (failure: Parameters<typeof FileTool.failed>[0]): ToolError => {
    const hint =
      escalation && failure.code === "FS_SANDBOX_DENIED"
        ? "; if it has to be changed, repeat the call once with sandbox_permissions and justification"
        : ""
    return FileTool.failed({ ...failure, code: failure.code, message: failure.message + hint })
  }
