/**
 * The core events of a session log. An extension adds its own by declaring them in `SessionEvents` and registering the type.
 *
 * Whole-value rule: an event that carries state carries all of it, so the latest one wins.
 */
import type { Message, AssistantMessage, ToolErrorInfo, ToolMeta, ToolResultMessage, UserMessage } from "./Message.ts"
import type { CallId, MessageId } from "./Ids.ts"
import type { EpochHeader, RequestContext } from "./Request.ts"
import type { LlmFailure, StreamChunk, TokenUsage } from "./StreamChunk.ts"

/** Event type → data. Open by interface merging. */
export interface SessionEvents {
  /** Turns are numbered from 1 over the whole log, inherited history included. */
  readonly "turn/start": { readonly turn: number }
  /** The last event of a turn, on every way out. */
  readonly "turn/end": { readonly turn: number; readonly reason: TurnEndReason }
  /** Steps are numbered from 1 within their turn. */
  readonly "step/start": { readonly turn: number; readonly step: number }
  /** The step is over, whatever came of it. */
  readonly "step/end": { readonly turn: number; readonly step: number }
  /** The data is the message. A message that was pending in the inbox leaves it by this event. */
  readonly "user/message": UserMessage
  /** A piece of an answer, as it came in. */
  readonly "assistant/chunk": { readonly turn: number; readonly step: number; readonly chunk: StreamChunk }
  /** Once per successful model call, even without content; or the kept prefix of a cancelled one. */
  readonly "assistant/message": {
    readonly turn: number
    readonly step: number
    readonly message: AssistantMessage
    readonly usage?: TokenUsage
    readonly interrupted?: true
  }
  /** A call that the answer asks for, before anything judged or ran it. */
  readonly "tool/call": {
    readonly turn: number
    readonly step: number
    readonly callId: CallId
    readonly name: string
    /** Raw text as the model wrote it. */
    readonly arguments: string
  }
  /** What the model reads of a call. Every call has exactly one. */
  readonly "tool/result": {
    readonly turn: number
    readonly step: number
    readonly message: ToolResultMessage
    readonly error?: ToolErrorInfo
    readonly meta?: ToolMeta
  }
  /** What stands before the messages of a request: model, system prompt, tools. Holds until the next one. */
  readonly "request/header": { readonly header: EpochHeader; readonly reason: "initial" | "resume" | "change" }
  /** Which model the requests from here on go to, and how much its window holds. */
  readonly "request/context": RequestContext
  /** Digest of the request that was sent at this point of the log, for verification. `attempt` counts from 1 within the step. */
  readonly "request/sent": {
    readonly turn: number
    readonly step: number
    readonly attempt: number
    readonly bytes: number
    readonly sha256: string
    readonly of: "wire" | "neutral"
  }
  /** Everything before it was inherited. */
  readonly "session/end-seed": {}
  /** Here was an event that could not be read back. Never written live: see `Numbering` and `Mending`. */
  readonly "session/lost": {}
  /**
   * The conversation is again what the first `events` events of this log made of it, at the end of `turn`; 0 is before the first one.
   * What was said since stays in the log, and another of these may bring it back. Between turns only.
   */
  readonly "session/rewound": { readonly turn: number; readonly events: number }
  /** A change of the input that is pending. */
  readonly "agent/inbox/spliced": InboxSplice
}

/**
 * A change of the pending input. Insertion: no `removedCount`. Discard or replacement: `removedCount` and `outcome`.
 *
 * A message that enters a step is not spliced out: its `user/message` event removes it. So a message is pending or in the history,
 * never both and never neither, wherever the process stops.
 */
export interface InboxSplice {
  readonly target: InboxTarget
  readonly start: number
  readonly removedCount?: number
  readonly inserted: ReadonlyArray<UserMessage>
  /** `canceled`: withdrawn or replaced by its owner. `dropped`: a hook refused it or put something else in its place. */
  readonly outcome?: "canceled" | "dropped"
}

export type InboxTarget = "next-turn" | "next-step"

export type TurnEndReason =
  | { readonly kind: "completed" }
  | { readonly kind: "max-tokens" }
  | { readonly kind: "aborted"; readonly reason: CancelCause }
  | { readonly kind: "error"; readonly error: LlmFailure }
  /** A pre-step hook refused the input. */
  | { readonly kind: "blocked" }
  /** Never written live: added by crash recovery. */
  | { readonly kind: "interrupted" }

/** Open by interface merging: key = `kind`, value = the other fields. */
export interface CancelCauses {
  readonly user: {}
  readonly parent: {}
  readonly hook: { readonly reason: string }
  readonly disposed: {}
}

export type CancelCause = {
  [Kind in keyof CancelCauses]: { readonly kind: Kind } & CancelCauses[Kind]
}[keyof CancelCauses]

export type EventType = keyof SessionEvents

/** Where an event stands in the order that the model sees. */
export type SurfaceOp = "append" | SurfaceReplace

/** The event takes the place of the surface nodes from `start` to `end`, both inclusive, both seqs of current nodes. */
export interface SurfaceReplace {
  readonly op: "replace"
  readonly start: number
  readonly end: number
}

/** One seq, or all from the first to the second, both inclusive: a message may cite the thousands of chunks it was made of. */
export type SeqRange = number | readonly [from: number, to: number]

interface Envelope<Type extends EventType> {
  readonly type: Type
  /** Index in the log, contiguous from 0. */
  readonly seq: number
  /** Epoch milliseconds; may step backwards. */
  readonly time: number
  readonly data: SessionEvents[Type]
  readonly surfaceOp?: SurfaceOp
  /** Earlier events that this one was made from. */
  readonly sourceEventSeqs?: ReadonlyArray<SeqRange>
  /** A reader that does not know the type may skip the event. */
  readonly ignorable?: true
}

export type EventOf<Type extends EventType> = { [T in Type]: Envelope<T> }[Type]
export type SessionEvent = EventOf<EventType>

/** The three types that make up the model-visible order. */
export const surfaceTypes = ["user/message", "assistant/message", "tool/result"] as const
export type SurfaceType = (typeof surfaceTypes)[number]

export const isSurface = (event: SessionEvent): event is EventOf<SurfaceType> =>
  event.type === "user/message" || event.type === "assistant/message" || event.type === "tool/result"

/** The message a surface event derives; none when it only hosts usage. */
export const messageOf = (event: EventOf<SurfaceType>): Message | undefined => {
  if (event.type === "user/message") return event.data
  if (event.type === "tool/result") return event.data.message
  return event.data.message.content.length === 0 ? undefined : event.data.message
}

/** The id of the message a surface event carries. */
export const messageIdOf = (event: EventOf<SurfaceType>): MessageId =>
  event.type === "user/message" ? event.data.id : event.data.message.id
