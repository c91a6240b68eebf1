/**
 * What the model sees, folded from the log one event at a time: the surface, the messages it derives, and the request header and
 * context in force. There is no second copy of the history; this is a view that any reader can build again.
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import type { Message } from "./Message.ts"
import { canonical } from "./Request.ts"
import type { EpochHeader, RequestContext } from "./Request.ts"
import { isSurface, messageIdOf, messageOf } from "./SessionEvent.ts"
import type { EventOf, SeqRange, SessionEvent, SurfaceReplace, SurfaceType } from "./SessionEvent.ts"

export class InvalidSurface extends Data.TaggedError("InvalidSurface")<{
  readonly seq: number
  readonly reason: string
}> {
  readonly code = "INVALID_SURFACE"
  override get message(): string {
    return `event ${this.seq} cannot take its place in the conversation: ${this.reason}`
  }
}

type Node = EventOf<SurfaceType>

/** What a provider counted: the request of an answer, and the answer. */
export interface Report {
  readonly header: EpochHeader | undefined
  readonly generation: number
  /** How many of the messages it covers. */
  readonly messages: number
  readonly tokens: number
}

export interface Conversation {
  /** Derived messages in order. Live: grows in place until `generation` changes. */
  readonly messages: ReadonlyArray<Message>
  /** Surface events in order, those that derive no message included. Live like `messages`. */
  readonly nodes: ReadonlyArray<Node>
  /** Counts replacements and rewinds; whatever was computed from `messages` under another generation is void. */
  readonly generation: number
  /** The last logged header, canonical. The same object until the next `request/header`. */
  readonly header: EpochHeader | undefined
  readonly context: RequestContext | undefined
  /** That of the last answer whose usage was reported. */
  readonly report: Report | undefined
  /** What is wrong with a candidate, before it enters the log. */
  readonly check: (event: SessionEvent) => Either.Either<void, InvalidSurface>
  /** Takes in an event that passed `check`. */
  readonly apply: (event: SessionEvent) => void
}

/** The surface between two replacements or rewinds: it only grew at its end. */
interface Era {
  /** Seq of the event that began it. */
  readonly since: number
  readonly nodes: Array<Node>
}

class Fold implements Conversation {
  messages: Array<Message> = []
  nodes: Array<Node> = []
  generation = 0
  header: EpochHeader | undefined = undefined
  context: RequestContext | undefined = undefined
  report: Report | undefined = undefined
  private readonly eras: Array<Era> = [{ since: -1, nodes: this.nodes }]

  check(event: SessionEvent): Either.Either<void, InvalidSurface> {
    const reason = isSurface(event) ? this.refuseNode(event) : (refuseOther(event) ?? refuseRewind(event))
    return reason === undefined ? Either.void : Either.left(new InvalidSurface({ seq: event.seq, reason }))
  }

  apply(event: SessionEvent): void {
    if (isSurface(event)) {
      if (event.surfaceOp === "append" || event.surfaceOp === undefined) {
        this.nodes.push(event)
        const message = messageOf(event)
        if (message !== undefined) this.messages.push(message)
        if (event.type === "assistant/message") this.count(event, message !== undefined)
      } else {
        this.replace(event, event.surfaceOp)
      }
    } else if (event.type === "session/rewound") {
      this.rewind(event)
    } else if (event.type === "request/header") {
      this.header = canonical(event.data.header)
    } else if (event.type === "request/context") {
      this.context = event.data
    }
  }

  private count({ data: { usage } }: EventOf<"assistant/message">, isKept: boolean): void {
    if (usage === undefined) return
    const { cacheReadTokens = 0, cacheWriteTokens = 0, inputTokens, outputTokens } = usage
    // An answer without a message has been paid for and is not sent again.
    const tokens = inputTokens + cacheReadTokens + cacheWriteTokens + (isKept ? outputTokens : 0)
    this.report = { header: this.header, generation: this.generation, messages: this.messages.length, tokens }
  }

  private replace(event: Node, { end, start }: SurfaceReplace): void {
    const from = this.position(start)
    this.begin(event.seq, [...this.nodes.slice(0, from), event, ...this.nodes.slice(this.position(end) + 1)])
  }

  private rewind({ data: { events }, seq }: EventOf<"session/rewound">): void {
    const era = this.eras.findLast(({ since }) => since < events) ?? { nodes: [] }
    this.begin(
      seq,
      era.nodes.filter((node) => node.seq < events)
    )
  }

  private begin(since: number, nodes: Array<Node>): void {
    this.nodes = nodes
    this.messages = nodes.flatMap((node) => messageOf(node) ?? [])
    this.eras.push({ since, nodes })
    this.generation++
  }

  private position(seq: number): number {
    return this.nodes.findIndex((node) => node.seq === seq)
  }

  private refuseNode(event: Node): string | undefined {
    const { sourceEventSeqs: sources, surfaceOp: op } = event
    if (op === undefined) return "it has no surfaceOp"
    if (sources !== undefined) {
      if (sources.length === 0 && event.type !== "assistant/message") return "sourceEventSeqs is empty"
      let last = -1
      for (const range of sources) {
        const [from, to] = bounds(range)
        if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from > to) return "sourceEventSeqs is malformed"
        if (from <= last) return "sourceEventSeqs is not ascending or has duplicates"
        if (to >= event.seq) return "sourceEventSeqs names an event that is not earlier"
        last = to
      }
    }
    return op === "append" ? undefined : this.refuseReplacement(event, op)
  }

  private refuseReplacement(event: Node, replace: SurfaceReplace): string | undefined {
    if (replace.op !== "replace" || Object.keys(replace).length !== 3) return "its surfaceOp is malformed"
    const { end, start } = replace
    const from = this.position(start)
    const to = this.position(end)
    if (from < 0 || to < 0) return `it replaces ${start}..${end}, which are not both current surface events`
    if (from > to) return `it replaces ${start}..${end}, which is backwards`
    const shadowed = this.nodes.slice(from, to + 1)
    const cited = (event.sourceEventSeqs ?? []).map(bounds)
    if (shadowed.some(({ seq }) => !cited.some(([from, to]) => from <= seq && seq <= to)))
      return "it does not cite every event it replaces"
    if (event.type !== "tool/result") return undefined
    const [old, ...more] = shadowed
    if (more.length > 0 || old?.type !== "tool/result") return "a tool result can only replace one tool result"
    const [was] = old.data.message.content
    const [is] = event.data.message.content
    const sameCall =
      was.toolCallId === is.toolCallId && old.data.message.source.callId === event.data.message.source.callId
    if (messageIdOf(old) !== messageIdOf(event) || !sameCall || was.isError !== is.isError) {
      return "a replaced tool result may change nothing but its content"
    }
    return undefined
  }
}

const bounds = (range: SeqRange): readonly [from: number, to: number] =>
  typeof range === "number" ? [range, range] : range

const refuseOther = (event: SessionEvent): string | undefined =>
  event.surfaceOp !== undefined || event.sourceEventSeqs !== undefined
    ? `${event.type} is not a surface event and carries surfaceOp or sourceEventSeqs`
    : undefined

const refuseRewind = (event: SessionEvent): string | undefined =>
  event.type === "session/rewound" && event.data.events > event.seq
    ? `it goes back to the first ${event.data.events} events, and there are ${event.seq}`
    : undefined

/** The conversation of an empty log. */
export const empty = (): Conversation => new Fold()
