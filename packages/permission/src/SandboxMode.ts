/**
 * Which files the tools of a session may change, as the log says it. Who confines them reads it; who lets a person choose writes it.
 */
import * as EventTypes from "@dsh/session/EventTypes"
import type { Session } from "@dsh/session/Session"
import type { SessionError } from "@dsh/session/SessionError"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { Source } from "./Approval.ts"
import * as Fold from "./Fold.ts"

export const modes = ["read-only", "workspace-write", "danger-full-access"] as const
export type SandboxMode = (typeof modes)[number]

declare module "@dsh/protocol/SessionEvent" {
  interface SessionEvents {
    /** From here on. */
    readonly "sandbox/mode": { readonly mode: SandboxMode; readonly source?: Source }
  }
}

/** What was set last; undefined while nobody has. */
export const of: (session: Session) => SandboxMode | undefined = Fold.make<SandboxMode | undefined>(
  undefined,
  (mode, event) => (event.type === "sandbox/mode" ? event.data.mode : mode)
)

/** Logs nothing when it is what it was. */
export const set = (session: Session, mode: SandboxMode, source?: Source): Effect.Effect<void, SessionError> =>
  Effect.suspend(() =>
    of(session) === mode
      ? Effect.void
      : session.append("sandbox/mode", { mode, ...(source !== undefined && { source }) })
  )

/** The event, for whoever reads or writes it. */
export const events: Layer.Layer<
  never,
  Layer.Layer.Error<ReturnType<typeof EventTypes.layerType>>,
  EventTypes.EventTypes
> = EventTypes.layerType("sandbox/mode", {
  schema: () => Schema.Struct({ mode: Schema.Literal(...modes), source: Schema.optional(Schema.String) }),
  ignorable: true
})
