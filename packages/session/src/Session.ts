/**
 * A live session: an append-only log, the conversation folded from it, and observers that hear every event in order.
 *
 * Appending is synchronous and O(1). An observer may append: the event is in the log at once and is published after the one being
 * published, so every observer hears all events in `seq` order.
 */
import * as Json from "@dsh/kernel/Json"
import * as Thrown from "@dsh/kernel/Thrown"
import { eventAt, isRun, pack } from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import * as Conversation from "@dsh/protocol/Conversation"
import type { SessionId } from "@dsh/protocol/Ids"
import * as Inbox from "@dsh/protocol/Inbox"
import * as LogCheck from "@dsh/protocol/LogCheck"
import type { EventOf, EventType, SeqRange, SessionEvent, SessionEvents, SurfaceOp } from "@dsh/protocol/SessionEvent"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import { hold, tell } from "./Session/Listening.ts"
import type { Listening } from "./Session/Listening.ts"
import { Log } from "./Session/Log.ts"
import { SessionError } from "./SessionError.ts"
import type { SessionErrorCode } from "./SessionError.ts"

export interface AppendOptions {
  /** Where a surface event stands. Default for surface types: `append`. */
  readonly surfaceOp?: SurfaceOp
  readonly sourceEventSeqs?: ReadonlyArray<SeqRange>
}

/** Hears entries right after they entered the log. Synchronous; a throw is logged and contained. */
export type Observer = (entry: LogEntry) => void

/** Says why an event must not enter the log, before it does. Synchronous. */
export type Validator = (candidate: SessionEvent) => string | undefined

export interface ValidateOptions {
  /** Whether it judges stream chunks, too, which then are appended one by one. Default true. */
  readonly chunks?: boolean
}

export interface Session {
  readonly id: SessionId
  readonly header: SessionHeader
  /** The seq of the first event that was not inherited from a seed. */
  readonly firstLiveSeq: number
  /** The number of events, and the seq of the next one. */
  readonly length: number
  readonly at: (seq: number) => SessionEvent | undefined
  /** Events `from` (inclusive) to `to` (exclusive, default: the end). */
  readonly range: (from: number, to?: number) => Iterable<SessionEvent>
  readonly conversation: Conversation.Conversation
  /** Input that was accepted and has not entered a step; inherited events do not count. */
  readonly inbox: Inbox.Inbox
  /** Appends one event. `data` is snapshotted: lossless JSON or `NOT_LOSSLESS_JSON`. */
  readonly append: <Type extends EventType>(
    type: Type,
    data: SessionEvents[Type],
    options?: AppendOptions
  ) => Effect.Effect<EventOf<Type>, SessionError>
  /** Appends stream chunks that arrived together; they are trusted to be plain JSON. Succeeds with the seq of the first. */
  readonly appendChunks: (
    turn: number,
    step: number,
    chunks: ReadonlyArray<StreamChunk>
  ) => Effect.Effect<number, SessionError>
  readonly observe: (observer: Observer) => Effect.Effect<void, never, Scope.Scope>
  readonly validate: (validator: Validator, options?: ValidateOptions) => Effect.Effect<void, never, Scope.Scope>
}

/** The parts of a session that only its store may use. */
export interface OwnedSession extends Session {
  /** From now on appends fail with `SESSION_CLOSED`. */
  readonly close: Effect.Effect<void>
}

export interface MakeOptions {
  readonly header: SessionHeader
  /**
   * Inherited or stored events, in order. A `session/end-seed` marker is added unless they end in one. They are checked, not copied:
   * from now on they belong to the session.
   */
  readonly seed?: Iterable<LogEntry>
  readonly isKnownType: (type: string) => boolean
  /** Whether events of this type say that a reader may skip them. Default: none does. */
  readonly isIgnorable?: (type: string) => boolean
}

/** A session over `seed`. Fails with `INVALID_SEED` when the seed is not a log that this session could have written. */
export const make = (options: MakeOptions): Effect.Effect<OwnedSession, SessionError> =>
  Effect.clockWith((clock) =>
    Effect.try({
      try: () => {
        const session = new Live(options)
        if (options.seed !== undefined) session.plant(options.seed, clock.unsafeCurrentTimeMillis())
        return session
      },
      catch: (error) =>
        error instanceof SessionError
          ? error
          : new SessionError({
              code: "INVALID_SEED",
              sessionId: options.header.id,
              message: `session ${options.header.id}: the seed cannot be read: ${Thrown.messageOf(error) ?? "it threw"}`,
              cause: error
            })
    })
  )

class Live implements OwnedSession {
  readonly header: SessionHeader
  readonly conversation = Conversation.empty()
  inbox = Inbox.empty
  firstLiveSeq = 0
  private readonly log = new Log()
  private readonly isKnownType: (type: string) => boolean
  private readonly isIgnorable: (type: string) => boolean
  private readonly observers: Listening<Observer> = new Set()
  private readonly validators: Listening<Validator> = new Set()
  private readonly validatorsOfEvents: Listening<Validator> = new Set()
  private readonly unpublished: Array<LogEntry> = []
  private publishing = false
  private closed = false

  constructor(options: MakeOptions) {
    this.header = options.header
    this.isKnownType = options.isKnownType
    this.isIgnorable = options.isIgnorable ?? (() => false)
  }

  get id(): SessionId {
    return this.header.id
  }

  get length(): number {
    return this.log.length
  }

  readonly at = (seq: number): SessionEvent | undefined => this.log.at(seq)

  readonly range = (from: number, to = Number.POSITIVE_INFINITY): Iterable<SessionEvent> => this.log.range(from, to)

  readonly append: Session["append"] = <Type extends EventType>(
    type: Type,
    data: SessionEvents[Type],
    options?: AppendOptions
  ) =>
    Effect.clockWith((clock) =>
      Effect.suspend(() => {
        const candidate = this.candidate(type, data, clock.unsafeCurrentTimeMillis(), options)
        if (candidate instanceof SessionError) return Effect.fail(candidate)
        this.commit(candidate)
        return this.publish(candidate as EventOf<Type>, candidate)
      })
    )

  readonly appendChunks: Session["appendChunks"] = (turn, step, chunks) =>
    Effect.clockWith((clock) =>
      Effect.suspend(() => {
        if (this.closed) return Effect.fail(this.refuse("SESSION_CLOSED", "the session is closed; resume it first"))
        const first = this.log.length
        const time = clock.unsafeCurrentTimeMillis()
        if (this.validators.size > 0) return this.appendOneByOne(turn, step, chunks, time)
        const entries = pack(turn, step, first, time, chunks)
        for (const entry of entries) this.log.push(entry)
        return this.publish(first, ...entries)
      })
    )

  readonly observe: Session["observe"] = (observer) => hold(this.observers, observer)

  readonly validate: Session["validate"] = (validator, { chunks = true } = {}) =>
    hold(chunks ? this.validators : this.validatorsOfEvents, validator)

  readonly close: Effect.Effect<void> = Effect.sync(() => {
    this.closed = true
  })

  /** Takes over a seed. Throws a `SessionError`. */
  plant(seed: Iterable<LogEntry>, now: number): void {
    const inherited = this.header.seedLength ?? 0
    let last: LogEntry | undefined
    for (const entry of seed) {
      last = entry
      // A run differs from its first member in numbers and text, and what it stands for shows in no fold.
      const event = isRun(entry) ? eventAt(entry, 0) : entry
      const isLive = event.seq >= inherited
      const problem = this.seedProblem(event, isLive)
      if (problem !== undefined) {
        throw this.refuse("INVALID_SEED", `event ${this.log.length} of the seed is refused: ${problem}`)
      }
      if (isRun(entry)) this.log.push(entry)
      else this.commit(entry, isLive)
    }
    this.firstLiveSeq = this.log.length
    if (last !== undefined && !isRun(last) && last.type === "session/end-seed") return
    this.commit({ type: "session/end-seed", seq: this.log.length, time: now, data: {} })
  }

  private candidate(
    type: EventType,
    data: unknown,
    time: number,
    options: AppendOptions | undefined
  ): SessionEvent | SessionError {
    if (this.closed) return this.refuse("SESSION_CLOSED", "the session is closed; resume it first")
    if (!this.isKnownType(type)) {
      return this.refuse("UNKNOWN_EVENT_TYPE", unregistered(type))
    }
    const copy = Json.snapshot(data)
    if (Either.isLeft(copy)) return this.refuse("NOT_LOSSLESS_JSON", `${type}: ${copy.left.message}`)
    const placing = options === undefined ? Either.right(undefined) : Json.snapshot({ ...options })
    if (Either.isLeft(placing)) return this.refuse("NOT_LOSSLESS_JSON", `${type}: ${placing.left.message}`)
    const event = Object.freeze({
      type,
      seq: this.log.length,
      time,
      data: copy.right,
      ...(isSurfaceType(type) && { surfaceOp: "append" }),
      ...(placing.right as Json.JsonObject | undefined),
      ...(this.isIgnorable(type) && { ignorable: true })
      // `append` ties `data` to `type`, and a lossless snapshot has the shape of what it was taken from.
    }) as SessionEvent
    return this.misfit(event, true) ?? this.vetoed(event) ?? event
  }

  /** Why the event does not follow from those before it. */
  private misfit(event: SessionEvent, live: boolean): SessionError | undefined {
    const surface = this.conversation.check(event)
    if (Either.isLeft(surface)) return this.refuse("INVALID_SURFACE", surface.left.message)
    if (live && event.type === "agent/inbox/spliced") {
      const inbox = Inbox.apply(this.inbox, event)
      if (Either.isLeft(inbox)) return this.refuse("INVALID_INBOX_SPLICE", inbox.left.message)
    }
    return undefined
  }

  private seedProblem(event: SessionEvent, live: boolean): string | undefined {
    const malformed = LogCheck.problemOf(event)
    if (malformed !== undefined) return malformed
    if (event.seq !== this.log.length) return `it is numbered ${event.seq}`
    if (!this.isKnownType(event.type) && event.ignorable !== true) return unregistered(event.type)
    return this.misfit(event, live)?.message
  }

  private vetoed(event: SessionEvent): SessionError | undefined {
    const reason = objection(this.validators, event) ?? this.vetoOfEvent(event)
    if (reason !== undefined) return this.refuse("INVARIANT", reason)
    // It would take the place of what the validator appended.
    if (event.seq !== this.log.length) return this.refuse("INVARIANT", "a validator appended to the log it was judging")
    return undefined
  }

  private vetoOfEvent(event: SessionEvent): string | undefined {
    return event.type === "assistant/chunk" ? undefined : objection(this.validatorsOfEvents, event)
  }

  // A validator judges an event by those before it, so with validators every chunk is committed before the next is judged.
  private appendOneByOne(
    turn: number,
    step: number,
    chunks: ReadonlyArray<StreamChunk>,
    time: number
  ): Effect.Effect<number, SessionError> {
    const first = this.log.length
    return Effect.as(
      Effect.forEach(
        chunks,
        (chunk) =>
          Effect.suspend(() => {
            const event: SessionEvent = {
              type: "assistant/chunk",
              seq: this.log.length,
              time,
              data: { turn, step, chunk }
            }
            const vetoed = this.vetoed(event)
            if (vetoed !== undefined) return Effect.fail(vetoed)
            // In the form that observers know from everywhere else.
            const entries = pack(turn, step, event.seq, time, [chunk])
            for (const entry of entries) this.log.push(entry)
            return this.publish(undefined, ...entries)
          }),
        { discard: true }
      ),
      first
    )
  }

  private commit(event: SessionEvent, live = true): void {
    this.log.push(event)
    this.conversation.apply(event)
    if (live) this.inbox = Either.getOrElse(Inbox.apply(this.inbox, event), () => this.inbox)
  }

  private publish<A>(result: A, ...entries: ReadonlyArray<LogEntry>): Effect.Effect<A> {
    if (this.observers.size === 0) return Effect.succeed(result)
    this.unpublished.push(...entries)
    if (this.publishing) return Effect.succeed(result)
    const failures: Array<unknown> = []
    this.publishing = true
    for (let entry = this.unpublished.shift(); entry !== undefined; entry = this.unpublished.shift()) {
      failures.push(...tell(this.observers, (observer) => observer(entry)))
    }
    this.publishing = false
    if (failures.length === 0) return Effect.succeed(result)
    const shown = failures.map((failure) => Thrown.pretty(Cause.die(failure)))
    return Effect.as(Effect.logWarning(`session ${this.id}: an observer failed`, ...shown), result)
  }

  private refuse(code: SessionErrorCode, message: string): SessionError {
    return new SessionError({ code, sessionId: this.id, message: `session ${this.id}: ${message}` })
  }
}

const objection = (validators: Listening<Validator>, event: SessionEvent): string | undefined => {
  for (const { listener: validator } of validators) {
    const reason = validator(event)
    if (reason !== undefined) return reason
  }
  return undefined
}

const unregistered = (type: string): string => `no extension has registered the event type "${type}"`

const isSurfaceType = (type: string): boolean =>
  type === "user/message" || type === "assistant/message" || type === "tool/result"
