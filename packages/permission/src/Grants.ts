/**
 * What somebody allowed for the rest of a session: rules in its log. They are there again when it is resumed, and in a fork that inherits
 * the event; nowhere else.
 */
import type { CallId } from "@dsh/protocol/Ids"
import * as EventTypes from "@dsh/session/EventTypes"
import type { Session } from "@dsh/session/Session"
import type { SessionError } from "@dsh/session/SessionError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Fold from "./Fold.ts"
import * as Rules from "./Rules.ts"
import type { Given } from "./Verdict.ts"

declare module "@dsh/protocol/SessionEvent" {
  interface SessionEvents {
    /** From here on the rule allows. */
    readonly "permission/grant": { readonly rule: string; readonly callId?: CallId }
    /** From here on it does not any more. */
    readonly "permission/revoke": { readonly rule: string }
  }
}

const texts = Fold.make<ReadonlyArray<string>>([], (rules, event) => {
  switch (event.type) {
    case "permission/grant":
      return rules.includes(event.data.rule) ? rules : [...rules, event.data.rule]
    case "permission/revoke":
      return rules.filter((rule) => rule !== event.data.rule)
    default:
      return rules
  }
})

const origin = "granted in this session"

const parsed = new Map<string, ReadonlyArray<Given>>()

/** A grant that this version does not understand allows nothing. */
const given = (text: string): ReadonlyArray<Given> => {
  let rules = parsed.get(text)
  if (rules === undefined) {
    rules = Either.match(Rules.parse(text), {
      onLeft: () => [],
      onRight: (rule): ReadonlyArray<Given> => [{ effect: "allow", rule, origin, granted: true }]
    })
    parsed.set(text, rules)
  }
  return rules
}

export const of = (session: Session): ReadonlyArray<Given> => texts(session).flatMap(given)

export const grant = (session: Session, rule: string, callId?: CallId): Effect.Effect<void, SessionError> =>
  Effect.suspend(() =>
    texts(session).includes(rule)
      ? Effect.void
      : session.append("permission/grant", { rule, ...(callId !== undefined && { callId }) })
  )

/** False when there was no such grant. */
export const revoke = (session: Session, rule: string): Effect.Effect<boolean, SessionError> =>
  Effect.suspend(() =>
    texts(session).includes(rule)
      ? Effect.as(session.append("permission/revoke", { rule }), true)
      : Effect.succeed(false)
  )

/** The events, for whoever reads or writes them. */
export const events = Layer.mergeAll(
  EventTypes.layerType("permission/grant", {
    schema: () => Schema.Struct({ rule: Schema.String, callId: Schema.optional(Schema.String) }),
    ignorable: true
  }),
  EventTypes.layerType("permission/revoke", { schema: () => Schema.Struct({ rule: Schema.String }), ignorable: true })
)
