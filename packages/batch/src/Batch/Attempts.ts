/**
 * An agent is set to its task until that is done, or until trying again makes no sense.
 */
import type { Agent } from "@dsh/agent/Agent"
import { settled } from "@dsh/agent/Settled"
import * as Ids from "@dsh/kernel/Ids"
import { MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { UserMessage } from "@dsh/protocol/Message"
import type { TurnEndReason } from "@dsh/protocol/SessionEvent"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Outcome from "./Outcome.ts"
import type { Shared, Way } from "./TaskRun.ts"
import { endOf } from "./Trail.ts"

const longestPause = 30_000

export const attempt = (agent: Agent, from: number, way: Way, shared: Shared) =>
  Effect.gen(function* () {
    const { retry = 0, timeoutMs = Infinity } = shared.options
    const deadline = way.startedAt + timeoutMs
    let message = yield* first(agent, from, way)
    if ("kind" in message) return Outcome.ofReason(message)
    for (let failures = 0; ; failures++) {
      const reason = yield* turn(agent, message, from, way, shared)
      const { cut } = shared.ending
      if (cut !== undefined && (reason === undefined || Outcome.wasCut(reason))) return Outcome.cancelled(cut)
      if (reason === undefined) return Outcome.ofReason({ kind: "interrupted" })
      if (!Outcome.mayPass(reason) || failures === retry) return Outcome.ofReason(reason)
      const pause = pauseAfter(failures, reason)
      if ((yield* Clock.currentTimeMillis) + pause >= deadline) return Outcome.ofReason(reason)
      yield* Effect.raceFirst(Effect.sleep(pause), shared.ending.stopped)
      if (shared.ending.cut !== undefined) return Outcome.cancelled(shared.ending.cut)
      message = yield* again(agent, message, from, way)
    }
  })

const pauseAfter = (failures: number, reason: TurnEndReason): number => {
  const asked = reason.kind === "error" ? (reason.error.providerRetryAfterMs ?? 0) : 0
  return Math.max(asked, Math.min(1000 * 2 ** failures, longestPause))
}

/** What the agent is told first, or how it ended already. */
const first = (agent: Agent, from: number, way: Way): Effect.Effect<UserMessage | TurnEndReason, never> =>
  Effect.gen(function* () {
    const last = way.known?.started
    if (last === undefined) return yield* whole(way)
    const ended = endOf(agent.session, last.messageId, from)
    if (ended === undefined) return yield* anew(agent, last.messageId, way)
    return Outcome.wasCut(ended) || Outcome.mayPass(ended) ? yield* interrupted : ended
  })

const whole = ({ task }: Way) => Effect.map(Ids.fresh, (id) => Message.user(MessageId(id), task.task))

/** It has not come into a turn; if it still waits, it does so no more. */
const anew = (agent: Agent, messageId: string, way: Way) =>
  Effect.zipRight(Effect.ignore(agent.withdraw(MessageId(messageId))), whole(way))

const again = (agent: Agent, last: UserMessage, from: number, way: Way) =>
  endOf(agent.session, last.id, from) === undefined ? anew(agent, last.id, way) : interrupted

const notice = (text: string, summary: string) =>
  Effect.map(Ids.fresh, (id) => Message.fromPlugin(MessageId(id), text, { plugin: "batch", form: "notice", summary }))

const interrupted = notice(
  "Your work was interrupted from outside. Look at how far you have come, then go on with your task from there.",
  "interrupted, goes on"
)

/** How the turn ended; nothing when it was given up because the batch ends. */
const turn = (agent: Agent, message: UserMessage, from: number, way: Way, { ending, journal }: Shared) =>
  Effect.gen(function* () {
    way.attempts++
    if (journal !== undefined) {
      yield* journal.started({
        id: way.task.id,
        digest: way.digest,
        attempt: way.attempts,
        sessionId: agent.id,
        messageId: message.id,
        from
      })
    }
    const ended = Effect.flatMap(agent.followup(message), (id) => settled(agent, id)).pipe(
      Effect.map(({ reason }) => Option.some(reason))
    )
    const given = ending.stopped.pipe(
      Effect.zipRight(agent.cancel({ kind: "batch", code: "CANCELLED" }, { clear: true })),
      Effect.zipRight(agent.whenIdle),
      Effect.as(Option.none<TurnEndReason>())
    )
    return Option.getOrUndefined(yield* Effect.raceFirst(ended, given))
  })
