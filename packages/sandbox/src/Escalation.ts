/**
 * The arguments by which a call asks for more rights than its session has.
 */
import * as Schema from "effect/Schema"

const optional = { exact: true } as const

/** What a tool that can be widened has among its parameters. */
export const fields = {
  sandbox_permissions: Schema.optionalWith(
    Schema.Literal("workspace-write", "danger-full-access").annotations({
      description:
        "Only after the sandbox denied this very call: run it once with these rights, if the user allows it. Give justification, too."
    }),
    optional
  ),
  justification: Schema.optionalWith(
    Schema.String.annotations({ description: "Why it is needed, in one sentence, for the user who is asked." }),
    optional
  )
}
