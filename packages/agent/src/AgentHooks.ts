/**
 * The extension points of an agent's life. Registered at the root they see every agent, registered in an agent's realm that agent.
 */
import * as Hook from "@dsh/kernel/Hook"
import type { UserMessage } from "@dsh/protocol/Message"
import type { LlmCallConfig } from "@dsh/protocol/Request"
import type { LlmFailure } from "@dsh/protocol/StreamChunk"
import type { SessionError } from "@dsh/session/SessionError"
import type * as Layer from "effect/Layer"
import type { Agent, Status } from "./Agent.ts"
import type { AgentError } from "./AgentError.ts"

/** An agent is about to be published. The first failure takes it back: it never existed. */
export class AgentCreated extends Hook.Serial<AgentCreated, Agent, AgentError>()("agent/created") {}

/** The Scope of an agent is closing. */
export class AgentDisposed extends Hook.Emit<AgentDisposed, Agent>()("agent/disposed") {}

/** An agent begins to work on its session, and why it does. */
export class SessionStart extends Hook.Emit<
  SessionStart,
  { readonly agent: Agent; readonly source: "startup" | "resume" | "clear" | "compact" }
>()("agent/session-start") {}

/** Published on change only. `parked` counts input that waits for the next wake. */
export class AgentStatus extends Hook.Emit<
  AgentStatus,
  { readonly agent: Agent; readonly status: Status; readonly parked: number }
>()("agent/status") {}

/** A message was accepted and waits for a turn or a step. */
export class InboxInserted extends Hook.Emit<InboxInserted, { readonly agent: Agent; readonly message: UserMessage }>()(
  "agent/inbox/inserted"
) {}

/** A turn has taken a waiting message. */
export class InboxClaimed extends Hook.Emit<
  InboxClaimed,
  { readonly agent: Agent; readonly message: UserMessage; readonly turn: number }
>()("agent/inbox/claimed") {}

/** A waiting message will never enter a turn. */
export class InboxDiscarded extends Hook.Emit<
  InboxDiscarded,
  { readonly agent: Agent; readonly message: UserMessage }
>()("agent/inbox/discarded") {}

export interface StepInput {
  readonly agent: Agent
  readonly turn: number
  readonly step: number
  /** What was claimed for this step, then the runtime context when it changed. */
  readonly messages: ReadonlyArray<UserMessage>
  /** Input was claimed or results are owed, so the step opens whatever is added. Nothing may be added just to accompany a step that is not. */
  readonly due: boolean
}

export type StepDecision =
  /** Exactly these messages enter the step, in this order. */
  | { readonly kind: "enter"; readonly messages: ReadonlyArray<UserMessage> }
  | { readonly kind: "reject"; readonly reason?: string }

/** Before a step opens: judge or rewrite its input. The base decision lets everything in. A failure ends the turn. */
export class PreStep extends Hook.Waterfall<PreStep, StepInput, StepDecision, AgentError | SessionError>()(
  "agent/pre-step"
) {}

/** The call configuration of the next request: this is how model, effort and route change. */
export class AgentRequest extends Hook.Waterfall<
  AgentRequest,
  { readonly agent: Agent; readonly turn: number; readonly step: number; readonly config: LlmCallConfig },
  LlmCallConfig,
  AgentError
>()("agent/request") {}

/** Every failure of a model request, wherever it was raised. `retry` sends the request again within the same step. */
export class RequestError extends Hook.Waterfall<
  RequestError,
  {
    readonly agent: Agent
    readonly turn: number
    readonly step: number
    /** Counts from 1 within the step. */
    readonly attempt: number
    readonly provider: string
    readonly failure: LlmFailure
  },
  { readonly kind: "retry" } | { readonly kind: "fail"; readonly failure: LlmFailure },
  AgentError
>()("agent/request-error") {}

/** The turn owes nothing more. Adding next-step input prolongs it. A failure ends it as an error. */
export class TurnStopping extends Hook.Serial<
  TurnStopping,
  { readonly agent: Agent; readonly turn: number },
  AgentError
>()("agent/turn-stopping") {}

/** A turn failed. The durable fact is the turn's end; this is the live one. */
export class AgentFailed extends Hook.Emit<
  AgentFailed,
  { readonly agent: Agent; readonly turn: number; readonly step: number; readonly failure: LlmFailure }
>()("agent/error") {}

export type AgentHooks =
  | AgentCreated
  | AgentDisposed
  | SessionStart
  | AgentStatus
  | InboxInserted
  | InboxClaimed
  | InboxDiscarded
  | PreStep
  | AgentRequest
  | RequestError
  | TurnStopping
  | AgentFailed

/** All of them, for manifests. */
export const points = [
  AgentCreated,
  AgentDisposed,
  SessionStart,
  AgentStatus,
  InboxInserted,
  InboxClaimed,
  InboxDiscarded,
  PreStep,
  AgentRequest,
  RequestError,
  TurnStopping,
  AgentFailed
] as const

/** The extension points without handlers. */
export const layer: Layer.Layer<AgentHooks> = Hook.layer(...points)
