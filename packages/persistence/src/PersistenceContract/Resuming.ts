/**
 * Rules about continuing a stored session.
 */
import { CallId, MessageId, SessionId } from "@dsh/protocol/Ids"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import * as Effect from "effect/Effect"
import type { ContractCase } from "../PersistenceContract.ts"
import { refused, same, sameHeader } from "./Expect.ts"
import * as Samples from "./Samples.ts"

const { asStored, header, id, turn, turnLength } = Samples

/** A turn that stopped between its two tool calls. */
const interrupted: ReadonlyArray<SessionEvent> = [
  ...turn(0, 1).slice(0, 3),
  {
    type: "assistant/message",
    seq: 3,
    time: 20,
    data: {
      turn: 1,
      step: 1,
      message: {
        id: MessageId("assistant-1"),
        role: "assistant",
        content: ["begun", "not begun"].map((call) => ({
          type: "tool-call",
          id: CallId(call),
          name: "bash",
          arguments: "{}"
        })),
        source: { kind: "model", provider: "scripted", model: "one" }
      }
    },
    surfaceOp: "append"
  },
  {
    type: "tool/call",
    seq: 4,
    time: 21,
    data: { turn: 1, step: 1, callId: CallId("begun"), name: "bash", arguments: "{}" }
  }
]

export const resuming: ReadonlyArray<ContractCase> = [
  {
    name: "a resumed session is what was stored, and goes on behind it",
    run: (storage) =>
      Effect.gen(function* () {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const persistence = yield* storage.open
            yield* persistence.create(header())
            yield* persistence.append(id, Samples.mixed)
          })
        )
        const persistence = yield* storage.open
        const stored = yield* persistence.resume(id)
        yield* sameHeader(stored.header, asStored(header()))
        yield* same("entries", stored.length, 13)
        yield* refused("an append from the start", persistence.append(id, turn(0, 1)), "NOT_CONTIGUOUS")
        yield* persistence.append(id, turn(stored.length, 2))
        yield* same("length", (yield* (yield* storage.open).load(id)).length, 13 + turnLength)
      })
  },
  {
    name: "an interrupted turn is kept and closed: the model hears which calls may have run",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        yield* Effect.scoped(Effect.andThen(persistence.create(header()), () => persistence.append(id, interrupted)))
        const stored = yield* Effect.scoped(Effect.flatMap(storage.open, (other) => other.resume(id)))
        const events = [...stored.events]
        yield* same("what was logged", events.slice(0, interrupted.length), interrupted)
        yield* same(
          "what was added",
          events
            .slice(interrupted.length)
            .map((event) => [
              event.type,
              event.seq,
              event.time,
              event.type === "tool/result" ? [event.data.message.source.callId, event.data.error?.code] : []
            ]),
          [
            ["tool/result", 5, 21, ["begun", "TOOL_OUTCOME_UNKNOWN"]],
            ["tool/result", 6, 21, ["not begun", "TOOL_NOT_STARTED"]],
            ["step/end", 7, 21, []],
            ["turn/end", 8, 21, []]
          ]
        )
        yield* same("stored", [...(yield* persistence.load(id)).events], events)
        const again = yield* Effect.scoped(Effect.flatMap(storage.open, (other) => other.resume(id)))
        yield* same("resumed again", [...again.events], events)
      })
  },
  {
    name: "a session has one writer, and is free when that one is done",
    run: (storage) =>
      Effect.gen(function* () {
        const [one, other] = [yield* storage.open, yield* storage.open]
        const inUse = Effect.gen(function* () {
          for (const persistence of [one, other]) {
            yield* refused("resume", Effect.scoped(persistence.resume(id)), "SESSION_IN_USE")
          }
          yield* refused("append", other.append(id, turn(turnLength, 2)), "SESSION_IN_USE")
        })
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* one.create(header())
            yield* one.append(id, turn(0, 1))
            yield* inUse
          })
        )
        yield* Effect.scoped(Effect.andThen(one.resume(id), inUse))
        yield* same("length", (yield* other.resume(id)).length, turnLength)
      })
  },
  {
    name: "what is not stored cannot be resumed",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        yield* refused("resume", Effect.scoped(persistence.resume(SessionId("nobody"))), "SESSION_NOT_FOUND")
      })
  }
]
