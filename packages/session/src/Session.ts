/**
 * A live session: an append-only log, the conversation folded from it, and observers that hear every event in order.
 *
 * Appending is synchronous and O(1). An observer may append: the event is in the log at once and is published after the one being
 * published, so every observer hears all events in `seq` order.
 */
import * as Json from "@dsh/kernel/Json"
import { pack } from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import * as Conversation from "@dsh/protocol/Conversation"
import type { SessionId } from "@dsh/protocol/Ids"
import * as Inbox from "@dsh/protocol/Inbox"
import type { EventOf, EventType, SeqRange, SessionEvent, SessionEvents, SurfaceOp } from "@dsh/protocol/SessionEvent"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
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
  readonly validate: (validator: Validator) => Effect.Effect<void, never, Scope.Scope>
}

/** The parts of a session that only its store may use. */
export interface OwnedSession extends Session {
  /** From now on appends fail with `SESSION_CLOSED`. */
  readonly close: Effect.Effect<void>
}

export interface MakeOptions {
  readonly header: SessionHeader
  /** Inherited or stored events, in order. An `session/end-seed` marker is added unless they end in one. */
  readonly seed?: Iterable<SessionEvent>
  readonly isKnownType: (type: string) => boolean
}

/** A session over `seed`. Fails with `INVALID_SEED` when the seed is not a log. */
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
              message: String(error),
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
  private readonly observers = new Set<Observer>()
  private readonly validators = new Set<Validator>()
  private readonly unpublished: Array<LogEntry> = []
  private publishing = false
  private closed = false

  constructor(options: MakeOptions) {
    this.header = options.header
    this.isKnownType = options.isKnownType
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

  readonly observe: Session["observe"] = (observer) => scoped(this.observers, observer)

  readonly validate: Session["validate"] = (validator) => scoped(this.validators, validator)

  readonly close: Effect.Effect<void> = Effect.sync(() => {
    this.closed = true
  })

  /** Takes over a seed. Throws a `SessionError`. */
  plant(seed: Iterable<SessionEvent>, now: number): void {
    const inherited = this.header.seedLength ?? 0
    let last: SessionEvent | undefined
    for (const event of seed) {
      if (event.seq !== this.log.length) {
        throw this.refuse("INVALID_SEED", `event ${event.seq} stands at position ${this.log.length}`)
      }
      const problem = this.checked(event, event.seq >= inherited)
      if (problem !== undefined) throw problem
      this.commit(event, event.seq >= inherited)
      last = event
    }
    this.firstLiveSeq = this.log.length
    if (last?.type === "session/end-seed") return
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
      return this.refuse("UNKNOWN_EVENT_TYPE", `no extension has registered the event type "${type}"`)
    }
    const copy = Json.snapshot(data)
    if (Either.isLeft(copy)) return this.refuse("NOT_LOSSLESS_JSON", `${type}: ${copy.left.message}`)
    const surfaceOp = options?.surfaceOp ?? (isSurfaceType(type) ? "append" : undefined)
    const event = Object.freeze({
      type,
      seq: this.log.length,
      time,
      data: copy.right,
      ...(surfaceOp !== undefined && { surfaceOp }),
      ...(options?.sourceEventSeqs !== undefined && { sourceEventSeqs: options.sourceEventSeqs })
      // `append` ties `data` to `type`, and a lossless snapshot has the shape of what it was taken from.
    }) as SessionEvent
    return this.checked(event, true) ?? event
  }

  private checked(event: SessionEvent, live: boolean): SessionError | undefined {
    const surface = this.conversation.check(event)
    if (Either.isLeft(surface)) return this.refuse("INVALID_SURFACE", surface.left.message)
    if (live && event.type === "agent/inbox/spliced") {
      const inbox = Inbox.apply(this.inbox, event)
      if (Either.isLeft(inbox)) return this.refuse("INVALID_INBOX_SPLICE", inbox.left.message)
    }
    return this.vetoed(event)
  }

  private vetoed(event: SessionEvent): SessionError | undefined {
    for (const validator of this.validators) {
      const reason = validator(event)
      if (reason !== undefined) return this.refuse("INVARIANT", reason)
    }
    return undefined
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
            this.commit(event)
            return this.publish(undefined, event)
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
      for (const observer of [...this.observers]) {
        try {
          observer(entry)
        } catch (error) {
          failures.push(error)
        }
      }
    }
    this.publishing = false
    return failures.length === 0
      ? Effect.succeed(result)
      : Effect.as(Effect.logWarning(`session ${this.id}: an observer failed`, ...failures), result)
  }

  private refuse(code: SessionErrorCode, message: string): SessionError {
    return new SessionError({ code, sessionId: this.id, message: `session ${this.id}: ${message}` })
  }
}

const isSurfaceType = (type: string): boolean =>
  type === "user/message" || type === "assistant/message" || type === "tool/result"

const scoped = <A>(set: Set<A>, member: A): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      set.add(member)
    }),
    () =>
      Effect.sync(() => {
        set.delete(member)
      })
  )
