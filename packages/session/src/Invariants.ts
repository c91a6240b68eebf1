/**
 * The rules of a log, held against every session while it runs: an event that breaks one is refused before it is logged, and a session
 * whose history breaks one does not come to life. For tests and for `--check-invariants`; without it nothing is checked twice.
 */
import { Enclosure } from "@dsh/protocol/Enclosure"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { Session } from "./Session.ts"
import { SessionError } from "./SessionError.ts"
import { SessionCreated } from "./Sessions.ts"

/** Turns, steps, tool calls and model answers: see `Enclosure`. */
export const layer: Layer.Layer<never, never, SessionCreated> = SessionCreated.hook(
  "invariants",
  (session) =>
    Effect.gen(function* () {
      const rules = following(session)
      const broken = rules.catchUp(session.length)
      if (broken !== undefined) {
        return yield* new SessionError({
          code: "INVARIANT",
          sessionId: session.id,
          message: `session ${session.id} breaks a rule of its log: ${broken}`
        })
      }
      yield* session.validate(rules.judge)
    }),
  { order: -1000 }
)

const following = (session: Session) => {
  const rules = new Enclosure()
  let followed = 0

  /** Follows the log up to `length`; the first rule that it breaks. */
  const catchUp = (length: number): string | undefined => {
    let broken: string | undefined
    for (const event of session.range(followed, length)) {
      broken ??= explain(event, rules.problem(event))
      rules.apply(event)
    }
    followed = length
    return broken
  }

  return {
    catchUp,
    // What was logged since is legal: it came by here.
    judge: (candidate: SessionEvent): string | undefined => {
      catchUp(candidate.seq)
      return explain(candidate, rules.problem(candidate))
    }
  }
}

const explain = ({ seq, type }: SessionEvent, problem: string | undefined): string | undefined =>
  problem === undefined ? undefined : `${type} as event ${seq}: ${problem}`
