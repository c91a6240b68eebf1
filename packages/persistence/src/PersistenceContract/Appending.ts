/**
 * Rules about what is stored, and what is refused.
 */
import { CallId, MessageId, SessionId } from "@dsh/protocol/Ids"
import type { Json } from "@dsh/kernel/Json"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import * as Effect from "effect/Effect"
import type { ContractCase } from "../PersistenceContract.ts"
import * as StoredSession from "../StoredSession.ts"
import { ContractViolation, refused, same } from "./Expect.ts"
import * as Samples from "./Samples.ts"

const { header, id, turn, turnLength } = Samples

const toolResult = (meta: unknown): SessionEvent => ({
  type: "tool/result",
  seq: 0,
  time: 1,
  data: {
    turn: 1,
    step: 1,
    message: {
      id: MessageId("m"),
      role: "user",
      content: [{ type: "tool-result", toolCallId: CallId("c"), content: [] }],
      source: { kind: "tool", callId: CallId("c") }
    },
    meta: meta as Json
  },
  surfaceOp: "append"
})

export const appending: ReadonlyArray<ContractCase> = [
  {
    name: "batches follow each other, whoever appends them at once",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        yield* persistence.create(header())
        const all = Array.from({ length: 20 }, (_, n) => turn(n * turnLength, n + 1))
        yield* Effect.forEach(all, (batch) => persistence.append(id, batch), {
          concurrency: "unbounded",
          discard: true
        })
        yield* same("events", [...(yield* persistence.load(id)).events], all.flat())
      })
  },
  {
    name: "a batch that does not continue the log is refused and changes nothing",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        yield* persistence.create(header())
        yield* refused("gap at the start", persistence.append(id, turn(1, 1)), "NOT_CONTIGUOUS")
        yield* persistence.append(id, turn(0, 1))
        yield* refused("again", persistence.append(id, turn(0, 1)), "NOT_CONTIGUOUS")
        yield* refused("gap", persistence.append(id, turn(turnLength + 1, 2)), "NOT_CONTIGUOUS")
        yield* persistence.append(id, turn(turnLength, 2))
        yield* same("events", [...(yield* persistence.load(id)).events], [...turn(0, 1), ...turn(turnLength, 2)])
      })
  },
  {
    name: "a batch with a gap inside is refused as a whole",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        yield* persistence.create(header())
        const batch = turn(0, 1)
        yield* refused("gap", persistence.append(id, [batch[0]!, batch[2]!]), "NOT_CONTIGUOUS")
        yield* refused(
          "gap after a run",
          persistence.append(id, [Samples.textRun(0), Samples.toolCallRun(6)]),
          "NOT_CONTIGUOUS"
        )
        yield* refused("load", persistence.load(id), "SESSION_NOT_FOUND")
      })
  },
  {
    name: "what JSON would not give back is refused, and the event is named",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        yield* persistence.create(header())
        for (const meta of [undefined, Number.NaN, new Date(0), new Map(), () => 1, Array(2), { at: -0 }]) {
          const error = yield* refused(String(meta), persistence.append(id, [toolResult(meta)]), "NOT_LOSSLESS_JSON")
          if (!error.message.includes("tool/result")) yield* new ContractViolation({ message: error.message })
        }
        yield* persistence.append(id, [toolResult({ at: 0 })])
      })
  },
  {
    name: "what no reader would accept is refused",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        yield* persistence.create(header())
        const [first] = turn(0, 1)
        const wrong: ReadonlyArray<object> = [{ time: 0.5 }, { data: { turn: "one" } }, { extra: 1 }, { data: null }]
        for (const fields of wrong) {
          const event = { ...first!, ...fields } as SessionEvent
          yield* refused(JSON.stringify(fields), persistence.append(id, [event]), "INVALID_EVENT")
        }
        const run = Samples.textRun(0)
        yield* refused("uneven run", persistence.append(id, [{ ...run, times: [1] }]), "INVALID_EVENT")
      })
  },
  {
    name: "runs and single deltas are stored as the events they stand for",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        yield* persistence.create(header())
        const events = [...StoredSession.eventsOf(Samples.mixed)]
        yield* persistence.append(id, Samples.mixed)
        yield* persistence.create(header({ id: SessionId("unpacked") }))
        yield* persistence.append(SessionId("unpacked"), events)
        const other = yield* storage.open
        yield* same("packed", [...(yield* other.load(id)).events], events)
        yield* same("unpacked", [...(yield* other.load(SessionId("unpacked"))).events], events)
      })
  },
  {
    name: "what the caller does to its objects afterwards changes nothing",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        yield* persistence.create(header())
        const data = { turn: 1 }
        const batch: Array<SessionEvent> = [{ type: "turn/start", seq: 0, time: 1, data }]
        yield* persistence.append(id, batch)
        data.turn = 99
        batch.length = 0
        const events = [...(yield* persistence.load(id)).events]
        yield* same("events", events, [{ type: "turn/start", seq: 0, time: 1, data: { turn: 1 } }])
      })
  },
  {
    name: "a stored session that nobody has open can be continued",
    run: (storage) =>
      Effect.gen(function* () {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const persistence = yield* storage.open
            yield* persistence.create(header())
            yield* persistence.append(id, turn(0, 1))
          })
        )
        const persistence = yield* storage.open
        yield* refused("from the start", persistence.append(id, turn(0, 1)), "NOT_CONTIGUOUS")
        yield* persistence.append(id, turn(turnLength, 2))
        yield* persistence.append(id, turn(turnLength * 2, 3))
        yield* same("length", (yield* persistence.load(id)).length, turnLength * 3)
      })
  },
  {
    name: "an id that nobody knows is not found",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        yield* refused("append", persistence.append(id, turn(0, 1)), "SESSION_NOT_FOUND")
        yield* refused("load", persistence.load(id), "SESSION_NOT_FOUND")
        yield* refused("flush", persistence.flush(id), "SESSION_NOT_FOUND")
        yield* same("place", yield* persistence.locate(id), undefined)
        yield* persistence.append(id, [])
      })
  },
  {
    name: "flush succeeds for open sessions, written to or not, and for stored ones",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        yield* persistence.create(header())
        yield* persistence.flush(id)
        yield* persistence.append(id, turn(0, 1).slice(0, 3))
        yield* persistence.flush(id)
        yield* (yield* storage.open).flush(id)
      })
  }
]
