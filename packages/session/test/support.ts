/**
 * Builders of sessions and messages, an event type of an extension, and a log that records what it hears.
 */
import { eventAt, isRun } from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import type { ContentBlock } from "@dsh/protocol/Block"
import { CallId, MessageId, SessionId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { AssistantMessage, UserMessage } from "@dsh/protocol/Message"
import type { EventOf, EventType, SessionEvent, SessionEvents } from "@dsh/protocol/SessionEvent"
import * as Header from "@dsh/protocol/SessionHeader"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as EventTypes from "../src/EventTypes.ts"
import * as Session from "../src/Session.ts"
import type { SessionError } from "../src/SessionError.ts"

declare module "@dsh/protocol/SessionEvent" {
  interface SessionEvents {
    /** Of an extension that exists in tests only. */
    readonly "test/noted": { readonly note: unknown }
  }
}

export const header = (more: Partial<SessionHeader> = {}): SessionHeader =>
  Either.getOrThrow(Header.make({ id: SessionId("s"), createdAt: 0, ...more }))

/** A session outside of any store that knows the core types and `test/noted`. */
export const make = (options: Partial<Session.MakeOptions> = {}) =>
  Session.make({
    header: header(),
    isKnownType: (type) => EventTypes.isCore(type) || type === "test/noted",
    ...options
  })

export const said = (id: string, text = id): UserMessage => Message.user(MessageId(id), text)

export const answered = (id: string, ...content: ReadonlyArray<ContentBlock>): AssistantMessage => ({
  id: MessageId(id),
  role: "assistant",
  content,
  source: { kind: "model", provider: "p", model: "m" }
})

export const result = (id: string, call: string, text: string) =>
  Message.toolResult(MessageId(id), CallId(call), [{ type: "text", text }], false)

/** A stored event. */
export const stored = <Type extends EventType>(
  seq: number,
  type: Type,
  data: SessionEvents[Type],
  more: object = {}
): SessionEvent => ({ type, seq, time: 7, data, ...more }) as EventOf<EventType>

export const delta = (text: string, index = 0): StreamChunk => ({ type: "text-delta", index, text })

/** The events of the log, one by one. */
export const events = (session: Session.Session): ReadonlyArray<SessionEvent> => [...session.range(0)]

/** What an entry stands for, as `seq type`. */
export const named = (entry: LogEntry): ReadonlyArray<string> =>
  (isRun(entry) ? Array.from(entry.texts, (_, i) => eventAt(entry, i)) : [entry]).map(
    ({ seq, type }) => `${seq} ${type}`
  )

/** Appends a note: an event that means nothing to anybody. */
export const note = (session: Session.Session, text: unknown) => session.append("test/noted", { note: text })

/** What the refusal of session `s` says. */
export const refused = <A>(effect: Effect.Effect<A, SessionError>) =>
  Effect.map(Effect.flip(effect), ({ code, message, sessionId }) => {
    assert.strictEqual(sessionId, "s")
    return { code, message }
  })

/** Runs an append from inside an observer or a validator, which are synchronous. */
export const now = <A, E>(effect: Effect.Effect<A, E>): A => Effect.runSync(effect)
