/**
 * What somebody allowed for the rest of a session: rules in its log. They are there again when it is resumed, and in a fork that inherits
 * the event; nowhere else.
 */
import type { CallId } from "@dsh/protocol/Ids"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import type { Session } from "@dsh/session/Session"
import type { SessionError } from "@dsh/session/SessionError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fold from "./Fold.ts"
import * as Rules from "./Rules.ts"
import type { Given } from "./Verdict.ts"

const step = (rules: ReadonlyArray<string>, event: SessionEvent): ReadonlyArray<string> => {
  switch (event.type) {
    case "permission/grant":
      return rules.includes(event.data.rule) ? rules : [...rules, event.data.rule]
    case "permission/revoke":
      return rules.filter((rule) => rule !== event.data.rule)
    default:
      return rules
  }
}

const texts = Fold.make<ReadonlyArray<string>>([], step)

/** What is granted at the end of a log. */
export const inLog = (events: Iterable<SessionEvent>): ReadonlyArray<string> =>
  Array.from(events).reduce<ReadonlyArray<string>>(step, [])

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
