/**
 * The moving parts of one agent, in one place. JavaScript runs one thing at a time, so a state that is only changed between two
 * effects changes atomically; every method here is such a step.
 */
import type { Agent, Status, TurnOutcome } from "@dsh/agent/Agent"
import type { AgentError } from "@dsh/agent/AgentError"
import type { Selection } from "@dsh/agent/ModelSelection"
import type { MessageId } from "@dsh/protocol/Ids"
import type { EpochHeader } from "@dsh/protocol/Request"
import type { CancelCause } from "@dsh/protocol/SessionEvent"
import type * as RequestBody from "@dsh/protocol/RequestBody"
import type { Session } from "@dsh/session/Session"
import type * as Deferred from "effect/Deferred"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

/** What keeps an agent busy. */
export interface Activity {
  readonly kind: "running" | "maintenance"
  readonly done: Deferred.Deferred<void>
  /** Why it is being ended. Set before anything else happens; the first cause wins. */
  cause: CancelCause | undefined
  /** The turn, while one is open. */
  fiber: Fiber.RuntimeFiber<unknown, unknown> | undefined
  /** How maintenance hears of a cancel: it has no turn to interrupt. */
  onCancel: (() => void) | undefined
  /** No further turn will be opened, so input that arrives now needs a wake of its own. */
  stopping: boolean
}

export interface AgentState {
  readonly agent: Agent
  readonly session: Session
  readonly body: RequestBody.RequestBody
  /** Where the fibers of turns and tools live; it closes after the agent has wound down. */
  readonly activities: Scope.Scope
  activity: Activity | undefined
  lastTurn: number
  /** The step that is open in the log, 0 when none is. */
  step: number
  /** The model that was chosen last, if one was. */
  readonly selected: () => Selection | undefined
  /** The choice that the step was assembled for, until a request has gone by it. */
  selection: Selection | undefined
  /** The last choice that a request has gone by: the log carries it. */
  applied: Selection | undefined
  /** Where the last request was to go: for whoever handles its failure. */
  provider: string
  /** The status that was published last. */
  published: Status
  /** A wake arrived when the current activity could no longer serve it. */
  wakeRequested: boolean
  /** The log could not be completed; see `TurnEnd`. */
  broken: AgentError | undefined
  /** Why nothing is accepted and no turn is opened any more: the agent is disposed, or its log could not be completed. */
  refusal: AgentError | undefined
  /** What the log said of requests before this loop instance logged one of its own. */
  readonly inheritedHeader: EpochHeader | undefined
  /** Messages that the open turn has claimed, and the turn. */
  readonly claimed: Map<MessageId, number>
  /** Those of them that reached the history. */
  readonly entered: Set<MessageId>
  /** Outcomes that the log does not tell: of claims that never entered a turn, and of a turn whose end could not be logged. */
  readonly unlogged: Map<MessageId, TurnOutcome>
  readonly waiters: Map<MessageId, Deferred.Deferred<TurnOutcome, AgentError>>
  /** Every tool call id of the session. */
  readonly callIds: Set<string>
}
