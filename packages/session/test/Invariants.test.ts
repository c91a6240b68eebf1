// Rules that are held against a session while it runs, and against the history it begins with.
import { SessionId } from "@dsh/protocol/Ids"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Invariants from "../src/Invariants.ts"
import * as Sessions from "../src/Sessions.ts"

const world = Layer.provideMerge(Invariants.layer, Sessions.layer)

const start = (seq: number, turn: number): SessionEvent => ({ type: "turn/start", seq, time: 0, data: { turn } })

describe("Invariants", () => {
  it.scoped("refuse an event before it is logged, and the session goes on", () =>
    Effect.gen(function* () {
      const session = yield* (yield* Sessions.Sessions).create()
      yield* session.append("turn/start", { turn: 1 })
      const error = yield* Effect.flip(session.append("turn/start", { turn: 2 }))
      assert.strictEqual(error.code, "INVARIANT")
      assert.include(error.message, "turn/start as event 1: turn 2 begins inside of turn 1")
      assert.strictEqual(session.length, 1)
      yield* session.append("turn/end", { turn: 1, reason: { kind: "completed" } })
    }).pipe(Effect.provide(world))
  )

  it.scoped("see what an observer appends", () =>
    Effect.gen(function* () {
      const session = yield* (yield* Sessions.Sessions).create()
      let refused: string | undefined
      yield* session.observe((entry) => {
        if (!("type" in entry) || entry.type !== "turn/start") return
        Effect.runSync(session.append("step/start", { turn: 1, step: 1 }))
        refused = Effect.runSync(Effect.flip(session.append("step/start", { turn: 1, step: 2 }))).message
      })
      yield* session.append("turn/start", { turn: 1 })
      assert.include(refused ?? "", "step 2 begins inside of step 1")
      assert.strictEqual(session.length, 2)
    }).pipe(Effect.provide(world))
  )

  it.scoped("refuse a history that breaks a rule", () =>
    Effect.gen(function* () {
      const store = yield* Sessions.Sessions
      const id = SessionId("s")
      const error = yield* Effect.flip(store.create({ id, seed: [start(0, 1), start(1, 2)] }))
      assert.strictEqual(error.code, "INVARIANT")
      assert.include(error.message, "turn/start as event 1")
      assert.isUndefined(store.get(id))
      yield* store.create({ id, seed: [start(0, 1)] })
    }).pipe(Effect.provide(world))
  )
})
