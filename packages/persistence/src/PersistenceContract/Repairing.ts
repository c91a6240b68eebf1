/**
 * Rules about logs that are damaged, and about sessions that are deleted.
 */
import { CallId, MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import * as Effect from "effect/Effect"
import type { ContractCase, Storage } from "../PersistenceContract.ts"
import { refused, same } from "./Expect.ts"
import * as Samples from "./Samples.ts"

const { header, id } = Samples

/** A turn without a model. */
const idle = (seq: number, turn: number): ReadonlyArray<SessionEvent> => [
  { type: "turn/start", seq, time: seq, data: { turn } },
  { type: "turn/end", seq: seq + 1, time: seq, data: { turn, reason: { kind: "completed" } } }
]

/** What nobody asked for. */
const stray: SessionEvent = {
  type: "tool/result",
  seq: 2,
  time: 2,
  data: {
    turn: 1,
    step: 1,
    message: Message.toolResult(MessageId("result"), CallId("nobody's"), [{ type: "text", text: "42" }], false)
  },
  surfaceOp: "append"
}

const stored = (storage: Storage, entries: ReadonlyArray<SessionEvent>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const persistence = yield* storage.open
      yield* persistence.create(header())
      yield* persistence.append(id, entries)
    })
  )

export const repairing: ReadonlyArray<ContractCase> = [
  {
    name: "a sound log has no defects, and a repair leaves it as it is",
    run: (storage) =>
      Effect.gen(function* () {
        yield* stored(storage, idle(0, 1))
        const persistence = yield* storage.open
        yield* same("defects", yield* persistence.check(id), [])
        yield* same("repair", yield* persistence.repair(id), { defects: [] })
        yield* same("events", [...(yield* persistence.load(id)).events], idle(0, 1))
      })
  },
  {
    name: "a repair takes away what it says, keeps the rest and its numbers, and the session goes on",
    run: (storage) =>
      Effect.gen(function* () {
        yield* stored(storage, [...idle(0, 1), stray, ...idle(3, 2)])
        const persistence = yield* storage.open
        const before = yield* persistence.check(id)
        yield* same(
          "defects",
          before.map(({ code, place }) => [code, place]),
          [["EVENT_ORPHANED", "event 2"]]
        )
        yield* same("checked again", yield* persistence.check(id), before)
        const { backup, defects } = yield* persistence.repair(id)
        yield* same("repaired", defects, before)
        yield* same("a backup is kept", backup === undefined, false)
        yield* same("defects after it", yield* persistence.check(id), [])
        const lost = { type: "session/lost", seq: 2, time: 2, data: {}, ignorable: true }
        const events = [...idle(0, 1), lost, ...idle(3, 2)]
        yield* same("events", [...(yield* persistence.load(id)).events], events)
        yield* persistence.append(id, idle(5, 3))
        const other = yield* storage.open
        yield* same("events later", [...(yield* other.load(id)).events], [...events, ...idle(5, 3)])
      })
  },
  {
    name: "a session that is open can be checked, and neither repaired nor deleted",
    run: (storage) =>
      Effect.gen(function* () {
        const [one, other] = [yield* storage.open, yield* storage.open]
        yield* one.create(header())
        yield* one.append(id, [...idle(0, 1), stray])
        for (const persistence of [one, other]) {
          yield* same("defects", (yield* persistence.check(id)).length, 1)
          yield* refused("repair", persistence.repair(id), "SESSION_IN_USE")
          yield* refused("delete", persistence.delete(id), "SESSION_IN_USE")
        }
        yield* one.append(id, idle(3, 2))
        yield* same("length", (yield* other.load(id)).length, 5)
      })
  },
  {
    name: "a deleted session is gone, and its id is free",
    run: (storage) =>
      Effect.gen(function* () {
        yield* stored(storage, idle(0, 1))
        const persistence = yield* storage.open
        yield* persistence.delete(id)
        yield* refused("load", persistence.load(id), "SESSION_NOT_FOUND")
        yield* refused("delete", persistence.delete(id), "SESSION_NOT_FOUND")
        yield* same("listed", (yield* persistence.list).sessions.length, 0)
        yield* stored(storage, idle(0, 1))
        yield* same("length", (yield* persistence.load(id)).length, 2)
      })
  },
  {
    name: "what is not stored has nothing to check, to repair or to look at",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        yield* refused("check", persistence.check(id), "SESSION_NOT_FOUND")
        yield* refused("repair", persistence.repair(id), "SESSION_NOT_FOUND")
        yield* refused("raw", persistence.raw(id), "SESSION_NOT_FOUND")
      })
  }
]
