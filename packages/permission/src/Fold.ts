/**
 * State that a session's log carries, folded once and then event by event. Inherited events count: a fork begins with what its history
 * says, and no more.
 */
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import type { Session } from "@dsh/session/Session"

interface Folded<A> {
  upTo: number
  state: A
}

/** The state of a session after all of its events so far. */
export const make = <A>(initial: A, step: (state: A, event: SessionEvent) => A): ((session: Session) => A) => {
  const known = new WeakMap<Session, Folded<A>>()
  return (session) => {
    let folded = known.get(session)
    if (folded === undefined) known.set(session, (folded = { upTo: 0, state: initial }))
    for (const event of session.range(folded.upTo)) folded.state = step(folded.state, event)
    folded.upTo = session.length
    return folded.state
  }
}
