/**
 * What the log says of permissions. Small, for it is loaded also where no rule is.
 */
import type { CallId } from "@dsh/protocol/Ids"
import * as EventTypes from "@dsh/session/EventTypes"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

declare module "@dsh/protocol/SessionEvent" {
  interface SessionEvents {
    /** The rules did not simply allow a call. */
    readonly "permission/decision": {
      readonly callId: CallId
      readonly toolName: string
      readonly decision: "ask" | "deny"
      readonly reason: string
      /** What it goes back to, and who gave that. */
      readonly rule?: string
      readonly origin?: string
    }
    /** From here on the rule allows. */
    readonly "permission/grant": { readonly rule: string; readonly callId?: CallId }
    /** From here on it does not any more. */
    readonly "permission/revoke": { readonly rule: string }
  }
}

const optional = Schema.optional(Schema.String)

const decision = () =>
  Schema.Struct({
    callId: Schema.String,
    toolName: Schema.String,
    decision: Schema.Literal("ask", "deny"),
    reason: Schema.String,
    rule: optional,
    origin: optional
  })

/** Without them a session is read as one in which nothing was granted. */
export const layer = Layer.mergeAll(
  EventTypes.layerType("permission/decision", { schema: decision, ignorable: true }),
  EventTypes.layerType("permission/grant", {
    schema: () => Schema.Struct({ rule: Schema.String, callId: optional }),
    ignorable: true
  }),
  EventTypes.layerType("permission/revoke", { schema: () => Schema.Struct({ rule: Schema.String }), ignorable: true })
)
