/**
 * Schemas of the core events: their data by type, their envelope, and any event at all.
 */
import * as Schema from "effect/Schema"
import type * as Event from "../SessionEvent.ts"
import { LlmFailure, StreamChunk, TokenUsage } from "./Chunks.ts"
import { AssistantMessage, ToolErrorInfo, ToolMeta, ToolResultMessage, UserMessage } from "./Messages.ts"
import { EpochHeader, RequestContext } from "./Requests.ts"
import { CallId, Count, extension, maybe, Name, Time } from "./Values.ts"

// -----------------------------------------------------------------------------
// parts
// -----------------------------------------------------------------------------

/** A cause of an extension: only its `kind` is known here. */
const ExtensionCause: Schema.Schema<
  Exclude<Event.CancelCause, { readonly kind: "user" | "parent" | "hook" | "disposed" }>
> = extension("kind", ["user", "parent", "hook", "disposed"])

export const CancelCause: Schema.Schema<Event.CancelCause> = Schema.Union(
  Schema.Struct({ kind: Schema.Literal("user") }),
  Schema.Struct({ kind: Schema.Literal("parent") }),
  Schema.Struct({ kind: Schema.Literal("hook"), reason: Schema.String }),
  Schema.Struct({ kind: Schema.Literal("disposed") }),
  ExtensionCause
)

export const TurnEndReason: Schema.Schema<Event.TurnEndReason> = Schema.Union(
  Schema.Struct({ kind: Schema.Literal("completed") }),
  Schema.Struct({ kind: Schema.Literal("max-tokens") }),
  Schema.Struct({ kind: Schema.Literal("aborted"), reason: CancelCause }),
  Schema.Struct({ kind: Schema.Literal("error"), error: LlmFailure }),
  Schema.Struct({ kind: Schema.Literal("blocked") }),
  Schema.Struct({ kind: Schema.Literal("interrupted") })
)

export const InboxSplice: Schema.Schema<Event.InboxSplice> = Schema.Struct({
  target: Schema.Literal("next-turn", "next-step"),
  start: Count,
  removedCount: maybe(Count),
  inserted: Schema.Array(UserMessage),
  outcome: maybe(Schema.Literal("canceled", "dropped"))
})

export const SurfaceOp: Schema.Schema<Event.SurfaceOp> = Schema.Union(
  Schema.Literal("append"),
  Schema.Struct({ op: Schema.Literal("replace"), start: Count, end: Count })
)

export const SeqRange: Schema.Schema<Event.SeqRange> = Schema.Union(Count, Schema.Tuple(Count, Count))

// -----------------------------------------------------------------------------
// data
// -----------------------------------------------------------------------------

const inStep = { turn: Count, step: Count }

type DataOf<Type extends Event.EventType> = Schema.Schema<Event.SessionEvents[Type]>

const turnStart: DataOf<"turn/start"> = Schema.Struct({ turn: Count })
const turnEnd: DataOf<"turn/end"> = Schema.Struct({ turn: Count, reason: TurnEndReason })
const stepBoundary: DataOf<"step/start" | "step/end"> = Schema.Struct(inStep)
const assistantChunk: DataOf<"assistant/chunk"> = Schema.Struct({ ...inStep, chunk: StreamChunk })
const assistantMessage: DataOf<"assistant/message"> = Schema.Struct({
  ...inStep,
  message: AssistantMessage,
  usage: maybe(TokenUsage),
  interrupted: maybe(Schema.Literal(true))
})
const toolCall: DataOf<"tool/call"> = Schema.Struct({
  ...inStep,
  callId: CallId,
  name: Schema.String,
  arguments: Schema.String
})
const toolResult: DataOf<"tool/result"> = Schema.Struct({
  ...inStep,
  message: ToolResultMessage,
  error: maybe(ToolErrorInfo),
  meta: maybe(ToolMeta)
})
const requestHeader: DataOf<"request/header"> = Schema.Struct({
  header: EpochHeader,
  reason: Schema.Literal("initial", "resume", "change")
})
const rewound: DataOf<"session/rewound"> = Schema.Struct({ turn: Count, events: Count })
const requestSent: DataOf<"request/sent"> = Schema.Struct({
  ...inStep,
  attempt: Count,
  bytes: Count,
  sha256: Schema.String,
  of: Schema.Literal("wire", "neutral")
})
// An empty Struct lets any value pass, arrays and numbers included.
const empty: DataOf<"session/end-seed" | "session/lost"> = Schema.Struct({}).pipe(
  Schema.filter((data) => typeof data === "object" && !Array.isArray(data))
)

/** The data of every core event, by type. */
export const eventData = {
  "turn/start": turnStart,
  "turn/end": turnEnd,
  "step/start": stepBoundary,
  "step/end": stepBoundary,
  "user/message": UserMessage,
  "assistant/chunk": assistantChunk,
  "assistant/message": assistantMessage,
  "tool/call": toolCall,
  "tool/result": toolResult,
  "request/header": requestHeader,
  "request/context": RequestContext,
  "request/sent": requestSent,
  "session/end-seed": empty,
  "session/lost": empty,
  "session/rewound": rewound,
  "agent/inbox/spliced": InboxSplice
} as const

export type CoreEventType = keyof typeof eventData

// -----------------------------------------------------------------------------
// events
// -----------------------------------------------------------------------------

const envelope = <Type extends string, Data>(type: Schema.Schema<Type>, data: Schema.Schema<Data>) =>
  Schema.Struct({
    type,
    seq: Count,
    time: Time,
    data,
    surfaceOp: maybe(SurfaceOp),
    sourceEventSeqs: maybe(Schema.Array(SeqRange)),
    ignorable: maybe(Schema.Literal(true))
  })

const event = <Type extends string, Data>(type: Type, data: Schema.Schema<Data>) =>
  envelope(Schema.Literal(type), data).annotations({ identifier: type })

/** A core event. */
export const CoreEvent: Schema.Schema<Event.EventOf<CoreEventType>> = Schema.Union(
  event("turn/start", eventData["turn/start"]),
  event("turn/end", eventData["turn/end"]),
  event("step/start", eventData["step/start"]),
  event("step/end", eventData["step/end"]),
  event("user/message", eventData["user/message"]),
  event("assistant/chunk", eventData["assistant/chunk"]),
  event("assistant/message", eventData["assistant/message"]),
  event("tool/call", eventData["tool/call"]),
  event("tool/result", eventData["tool/result"]),
  event("request/header", eventData["request/header"]),
  event("request/context", eventData["request/context"]),
  event("request/sent", eventData["request/sent"]),
  event("session/end-seed", eventData["session/end-seed"]),
  event("session/lost", eventData["session/lost"]),
  event("session/rewound", eventData["session/rewound"]),
  event("agent/inbox/spliced", eventData["agent/inbox/spliced"])
)

const ExtensionType = Name.pipe(Schema.filter((type) => !Object.hasOwn(eventData, type)))

/** An event of an extension: any type that is not core, any data. */
export const ExtensionEvent = envelope(ExtensionType, Schema.Unknown)
