/**
 * Asking a person whether something may be done.
 *
 * Every question and its answer are in the log, as a pair, whatever happens in between. Nobody there to answer is an answer, too, so
 * nothing waits for ever. What is asked about is named by its call: whoever shows the question finds the arguments in the log.
 */
import * as Hook from "@dsh/kernel/Hook"
import * as Ids from "@dsh/kernel/Ids"
import type { CallId } from "@dsh/protocol/Ids"
import * as EventTypes from "@dsh/session/EventTypes"
import type { Session } from "@dsh/session/Session"
import type { SessionError } from "@dsh/session/SessionError"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Fold from "./Fold.ts"

export const outcomes = [
  "allowed-once",
  /** From now on, in this session. */
  "allowed-session",
  /** From now on, everywhere. */
  "allowed-always",
  "rejected",
  "cancelled",
  /** Nobody could answer. */
  "unavailable"
] as const
export type Outcome = (typeof outcomes)[number]

/** `never`: nobody is asked, the answer is no. */
export type Policy = "ask" | "never"

/** Who set a policy or mode, if it was not the user. */
export type Source = "delegation"

export interface Request {
  readonly session: Session
  readonly toolName: string
  readonly callId?: CallId
  readonly reason?: string
}

/** A request on its way to whoever answers. */
export interface Question extends Request {
  readonly id: string
}

declare module "@dsh/protocol/SessionEvent" {
  interface SessionEvents {
    /** Somebody is asked whether a call may be made. */
    readonly "approval/asked": {
      readonly id: string
      readonly toolName: string
      readonly callId?: CallId
      readonly reason?: string
    }
    /** The answer to the question with that id. */
    readonly "approval/decided": { readonly id: string; readonly outcome: Outcome }
    /** From here on. */
    readonly "approval/policy": { readonly policy: Policy; readonly source?: Source }
  }
}

export class ApprovalError extends Data.TaggedError("ApprovalError")<{
  readonly code: "APPROVAL_OUTSIDE_TURN"
  readonly message: string
}> {}

/** Answers, or hands on to the next. What fails, or answers with something else, counts as nobody. */
export class AnswerApproval extends Hook.Waterfall<AnswerApproval, Question, Outcome, unknown>()("approval/request") {}

export class Approval extends Context.Tag("@dsh/permission/Approval")<
  Approval,
  {
    /**
     * Asks. Interruption cancels the question: it is logged as such, and an answer that comes later is nobody's. Fails with
     * `APPROVAL_OUTSIDE_TURN` while no turn is open.
     */
    readonly request: (request: Request) => Effect.Effect<Outcome, ApprovalError | SessionError>
    readonly policy: (session: Session) => Policy
    /** Takes effect with the next question. Logs nothing when it is what it was. */
    readonly setPolicy: (session: Session, policy: Policy, source?: Source) => Effect.Effect<void, SessionError>
  }
>() {}

export interface Options {
  /** Of sessions whose log says nothing. Default: `ask`. */
  readonly policy?: Policy
}

const policyOf = Fold.make<Policy | undefined>(undefined, (policy, event) =>
  event.type === "approval/policy" ? event.data.policy : policy
)

/** Whether a turn has begun and not ended. */
const isInTurn = Fold.make(false, (isOpen, { type }) =>
  type === "turn/start" ? true : type === "turn/end" ? false : isOpen
)

export const make = Effect.fnUntraced(function* ({ policy: initial = "ask" }: Options = {}): Effect.fn.Return<
  Approval["Type"],
  never,
  AnswerApproval
> {
  const own = yield* AnswerApproval
  const policy = (session: Session): Policy => policyOf(session) ?? initial

  const answer = (question: Question) =>
    // Looked up where it is asked, so that an agent's own answerers are heard.
    Effect.flatMap(Effect.serviceOption(AnswerApproval), (point) =>
      Option.getOrElse(point, () => own).run(question, () => Effect.succeed("unavailable"))
    ).pipe(
      Effect.catchAllCause((cause) =>
        Cause.isInterruptedOnly(cause)
          ? Effect.interrupt
          : Effect.as(Effect.logWarning("an answer to an approval failed", cause), "unavailable" as const)
      ),
      Effect.map((outcome): Outcome => (outcomes.includes(outcome) ? outcome : "unavailable")),
      // Whoever answers may not listen; the question is over all the same.
      Effect.disconnect
    )

  const request = Effect.fn("Approval.request")(function* ({ callId, reason, session, toolName }: Request) {
    if (!isInTurn(session)) {
      return yield* new ApprovalError({
        code: "APPROVAL_OUTSIDE_TURN",
        message: `nobody is asked about ${toolName} while no turn of session ${session.id} is open; ask within one`
      })
    }
    const id = yield* Ids.fresh
    const asked = { toolName, ...(callId !== undefined && { callId }), ...(reason !== undefined && { reason }) }
    const ask: Effect.Effect<Outcome> =
      policy(session) === "never" ? Effect.succeed("rejected") : answer({ id, session, ...asked })
    return yield* Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        yield* session.append("approval/asked", { id, ...asked })
        const exit = yield* Effect.exit(restore(ask))
        const outcome = Exit.getOrElse(exit, () => "cancelled" as const)
        yield* session.append("approval/decided", { id, outcome })
        return yield* Exit.isSuccess(exit) ? exit : Effect.interrupt
      })
    )
  })

  return Approval.of({
    request,
    policy,
    setPolicy: (session, next, source) =>
      Effect.suspend(() =>
        policyOf(session) === next
          ? Effect.void
          : session.append("approval/policy", { policy: next, ...(source !== undefined && { source }) })
      )
  })
})

const ofOutcome = Schema.Literal(...outcomes)
const optional = Schema.optional(Schema.String)

/** The events, for whoever reads or writes them. */
const events = Layer.mergeAll(
  EventTypes.layerType("approval/asked", {
    schema: () => Schema.Struct({ id: Schema.String, toolName: Schema.String, callId: optional, reason: optional }),
    ignorable: true
  }),
  EventTypes.layerType("approval/decided", {
    schema: () => Schema.Struct({ id: Schema.String, outcome: ofOutcome }),
    ignorable: true
  }),
  EventTypes.layerType("approval/policy", {
    schema: () => Schema.Struct({ policy: Schema.Literal("ask", "never"), source: optional }),
    ignorable: true
  })
)

export const layer = (options?: Options) =>
  Layer.effect(Approval, make(options)).pipe(Layer.merge(events), Layer.provideMerge(AnswerApproval.layer))
