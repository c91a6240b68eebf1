/**
 * Which files the tools of a session may change, as the log says it. Who confines them reads it; who lets a person choose writes it.
 */
import * as EventTypes from "@dsh/session/EventTypes"
import type { Session } from "@dsh/session/Session"
import type { SessionError } from "@dsh/session/SessionError"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { modes } from "@dsh/world/Confinement"
import type { SandboxMode } from "@dsh/world/Confinement"

/** Whoever delegates work to an agent says what it may do. */
export type Source = "delegation"

declare module "@dsh/protocol/SessionEvent" {
  interface SessionEvents {
    /** From here on. */
    readonly "sandbox/mode": { readonly mode: SandboxMode; readonly source?: Source }
  }
}

interface Folded {
  upTo: number
  mode: SandboxMode | undefined
}

const known = new WeakMap<Session, Folded>()

/** What was set last, by the session itself or by what it was forked from; undefined while nobody has. */
export const of = (session: Session): SandboxMode | undefined => {
  let folded = known.get(session)
  if (folded === undefined) known.set(session, (folded = { upTo: 0, mode: undefined }))
  for (const event of session.range(folded.upTo)) if (event.type === "sandbox/mode") folded.mode = event.data.mode
  folded.upTo = session.length
  return folded.mode
}

/** Logs nothing when it is what it was. */
export const set = (session: Session, mode: SandboxMode, source?: Source): Effect.Effect<void, SessionError> =>
  Effect.suspend(() =>
    of(session) === mode
      ? Effect.void
      : session.append("sandbox/mode", { mode, ...(source !== undefined && { source }) })
  )

/** The event, for whoever reads or writes it: the same Layer, so that it is built once. */
export const events: Layer.Layer<
  never,
  Layer.Layer.Error<ReturnType<typeof EventTypes.layerType>>,
  EventTypes.EventTypes
> = EventTypes.layerType("sandbox/mode", {
  schema: () =>
    Schema.Struct({ mode: Schema.Literal(...modes), source: Schema.optional(Schema.Literal("delegation")) }),
  // Whoever does not know it would give the session other rights than it has.
  ignorable: false
})
