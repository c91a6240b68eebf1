/**
 * The agent handle: what callers and extensions hold of a running agent. Input goes in, turns come out in the session log.
 */
import type { ContentBlock } from "@dsh/protocol/Block"
import type { MessageId, SessionId } from "@dsh/protocol/Ids"
import type { UserMessage } from "@dsh/protocol/Message"
import type { CancelCause, InboxTarget, TurnEndReason } from "@dsh/protocol/SessionEvent"
import type { Session } from "@dsh/session/Session"
import type { SessionError } from "@dsh/session/SessionError"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { AgentError } from "./AgentError.ts"

export type Status = "idle" | "running"

export interface AgentOptions {
  readonly provider?: string
  readonly model?: string
  readonly reasoningEffort?: string
  /** Output ceiling per request, in tokens. */
  readonly maxTokens?: number
}

/** Text, blocks, or a whole message with an id and a source of its own. */
export type Input = string | ReadonlyArray<ContentBlock> | UserMessage

export interface SendOptions {
  /** `front`: before everything else that waits in the list. Default: `end`. */
  readonly at?: "front" | "end"
}

/** How the turn that claimed a message ended. `entered` is false when it ended before the message reached the history. */
export interface TurnOutcome {
  readonly turn: number
  readonly reason: TurnEndReason
  readonly entered: boolean
}

export type SendError = AgentError | SessionError

export interface Agent {
  /** The id of its session, too. */
  readonly id: SessionId
  readonly session: Session
  readonly options: AgentOptions
  /** Its services: the registries and extension points among them are its own, and show what it inherits. */
  readonly realm: Context.Context<never>
  readonly status: () => Status
  /**
   * Accepts a message into one of the pending lists; `wake` starts the agent when it is idle. Fails with `AGENT_DISPOSED` once the agent
   * is disposed, and with `SESSION_BROKEN` once its log could not be completed: end the agent and resume the session then.
   */
  readonly send: (
    input: Input,
    target: InboxTarget,
    wake: boolean,
    options?: SendOptions
  ) => Effect.Effect<MessageId, SendError>
  /** A prompt of its own turn. */
  readonly followup: (input: Input, options?: SendOptions) => Effect.Effect<MessageId, SendError>
  /** Joins the next request of the running turn; wakes an idle agent. */
  readonly steer: (input: Input, options?: SendOptions) => Effect.Effect<MessageId, SendError>
  /** Joins the next request, whenever that is; wakes nobody. */
  readonly inject: (input: Input, options?: SendOptions) => Effect.Effect<MessageId, SendError>
  /** Takes a pending message back. Fails with `MESSAGE_NOT_PENDING` once it was claimed. */
  readonly withdraw: (id: MessageId) => Effect.Effect<void, SendError>
  /**
   * Puts another message where a pending one stands, and wakes nobody. Whoever awaits the turn of the old one gets `MESSAGE_DROPPED`,
   * unless the new one is a message under the same id: then the wait goes on. Fails with `MESSAGE_NOT_PENDING` once the old one was
   * claimed, even while it has not entered its turn yet: what that turn is given was decided then.
   */
  readonly replace: (id: MessageId, input: Input) => Effect.Effect<MessageId, SendError>
  /**
   * Ends the current activity; the first cause wins. Returns before the turn has ended, see `whenIdle`. Pending input is kept unless
   * `clear` is set.
   */
  readonly cancel: (cause?: CancelCause, options?: { readonly clear?: boolean }) => Effect.Effect<void>
  /** Waits until nothing runs and no newer activity has replaced what ran. Never fails because a turn did. */
  readonly whenIdle: Effect.Effect<void>
  /**
   * The outcome of the turn that claims the message, as soon as it ended. Fails with `MESSAGE_DROPPED` when the message was withdrawn,
   * and with `AGENT_DISPOSED` or `SESSION_BROKEN` when no turn will claim it any more. A message that stays pending keeps its caller
   * waiting.
   */
  readonly awaitTurn: (id: MessageId) => Effect.Effect<TurnOutcome, AgentError>
  /** Runs `job` while nothing else may: `AGENT_BUSY` unless idle. Input that arrives meanwhile waits. A cancel interrupts it. */
  readonly maintain: <A, E, R>(job: Effect.Effect<A, E, R>) => Effect.Effect<A, E | AgentError, R>
}

/** The agent on whose behalf the current fiber runs: present in its hooks and tool bodies. */
export class CurrentAgent extends Context.Tag("@dsh/agent/CurrentAgent")<CurrentAgent, Agent>() {}
