/**
 * Builders of messages, events and logs, and the random logs of the property tests.
 */
import { FastCheck as fc } from "effect"
import * as Either from "effect/Either"
import type { ContentBlock } from "../src/Block.ts"
import * as Conversation from "../src/Conversation.ts"
import { CallId, MessageId } from "../src/Ids.ts"
import * as Message from "../src/Message.ts"
import type { AssistantMessage, UserMessage } from "../src/Message.ts"
import type { EpochHeader } from "../src/Request.ts"
import { surfaceTypes } from "../src/SessionEvent.ts"
import type { EventOf, EventType, SeqRange, SessionEvent, SessionEvents, SurfaceOp } from "../src/SessionEvent.ts"

export const said = (id: string, text: string): UserMessage => Message.user(MessageId(id), text)

export const answered = (id: string, ...content: ReadonlyArray<ContentBlock | string>): AssistantMessage => ({
  id: MessageId(id),
  role: "assistant",
  content: content.map((block) => (typeof block === "string" ? { type: "text", text: block } : block)),
  source: { kind: "model", provider: "p", model: "m" }
})

export const result = (id: string, call: string, text: string, isError = false) =>
  Message.toolResult(MessageId(id), CallId(call), [{ type: "text", text }], isError)

export const header = (more: Partial<EpochHeader> = {}): EpochHeader => ({
  config: { provider: "p", model: "m" },
  wire: { format: "neutral" },
  ...more
})

interface Placing {
  readonly surfaceOp?: SurfaceOp
  readonly sourceEventSeqs?: ReadonlyArray<SeqRange>
}

const isSurfaceType = (type: string): boolean => (surfaceTypes as ReadonlyArray<string>).includes(type)

/** An event at a given place. Surface events append unless told otherwise. */
export const event = <Type extends EventType>(
  seq: number,
  type: Type,
  data: SessionEvents[Type],
  placing: Placing = {}
): EventOf<Type> => {
  const surfaceOp = isSurfaceType(type) ? ({ surfaceOp: "append" } as const) : {}
  // The compiler cannot see that `type` and `data` belong together.
  return { type, seq, time: 1_000 + seq, data, ...surfaceOp, ...placing } as EventOf<Type>
}

/** A log that numbers its events. */
export const makeLog = () => {
  const events: Array<SessionEvent> = []
  const add = <Type extends EventType>(type: Type, data: SessionEvents[Type], placing?: Placing): EventOf<Type> => {
    const added = event(events.length, type, data, placing)
    events.push(added as SessionEvent)
    return added
  }
  return {
    events,
    add,
    say: (text: string) => add("user/message", said(`m${events.length}`, text)),
    answer: (...content: ReadonlyArray<ContentBlock | string>) =>
      add("assistant/message", { turn: 1, step: 1, message: answered(`m${events.length}`, ...content) }),
    result: (call: string, text: string) =>
      add("tool/result", { turn: 1, step: 1, message: result(`m${events.length}`, call, text) }),
    head: (more?: Partial<EpochHeader>) => add("request/header", { header: header(more), reason: "change" }),
    /** A user message in place of the nodes from `start` to `end`. */
    replace: (start: number, end: number, text: string) =>
      add("user/message", said(`m${events.length}`, text), {
        surfaceOp: { op: "replace", start, end },
        sourceEventSeqs: [[start, Math.max(start, end)]]
      })
  }
}

/** Folds events that must all be fit. */
export const fold = (events: Iterable<SessionEvent>): Conversation.Conversation => {
  const conversation = Conversation.empty()
  for (const each of events) {
    Either.getOrThrow(conversation.check(each))
    conversation.apply(each)
  }
  return conversation
}

// -----------------------------------------------------------------------------
// random logs
// -----------------------------------------------------------------------------

/** One thing that happens to a log. Positions are fractions of what is there when it happens. */
export type Move =
  | { readonly kind: "say" | "answer" | "result"; readonly text: string }
  | { readonly kind: "empty answer" }
  | { readonly kind: "replace"; readonly from: number; readonly to: number; readonly text: string }
  | { readonly kind: "head"; readonly system: string }
  | { readonly kind: "step" }

const words = fc.string({ unit: fc.constantFrom("a", '"', "\n", "é", "😀", "\ud800"), maxLength: 12 })
const fraction = fc.double({ min: 0, max: 0.999, noNaN: true })

export const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constantFrom("say" as const, "answer" as const, "result" as const), text: words })
  },
  { weight: 1, arbitrary: fc.constant<Move>({ kind: "empty answer" }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("replace" as const), from: fraction, to: fraction, text: words })
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("head" as const), system: fc.constantFrom("", "be brief", "be kind") })
  },
  { weight: 1, arbitrary: fc.constant<Move>({ kind: "step" }) }
)

/** Makes the move; nothing happens when it has nothing to act on. */
export const play = (log: ReturnType<typeof makeLog>, nodes: ReadonlyArray<SessionEvent>, made: Move): void => {
  switch (made.kind) {
    case "say":
      log.say(made.text)
      return
    case "answer":
      log.answer({ type: "reasoning", text: "hm" }, made.text)
      return
    case "result":
      log.result("c", made.text)
      return
    case "empty answer":
      log.answer()
      return
    case "head":
      log.head({ system: made.system })
      return
    case "step":
      log.add("step/start", { turn: 1, step: 1 })
      return
    case "replace": {
      if (nodes.length === 0) return
      const [low, high] = [made.from, made.to].map((at) => Math.floor(at * nodes.length)).sort((a, b) => a - b)
      const shadowed = nodes.slice(low, high! + 1)
      log.add("user/message", said(`m${log.events.length}`, made.text), {
        surfaceOp: { op: "replace", start: shadowed[0]!.seq, end: shadowed.at(-1)!.seq },
        sourceEventSeqs: shadowed.map(({ seq }) => seq).sort((a, b) => a - b)
      })
    }
  }
}
