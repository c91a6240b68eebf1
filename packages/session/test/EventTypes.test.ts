import type { EventType } from "@dsh/protocol/SessionEvent"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Option, Schema, Scope } from "effect"
import * as EventTypes from "../src/EventTypes.ts"
import * as Sessions from "../src/Sessions.ts"
import { note, stored } from "./support.ts"

const info = (ignorable: boolean): EventTypes.EventTypeInfo => ({
  schema: () => Schema.Struct({ note: Schema.Unknown }),
  ignorable
})

describe("EventTypes", () => {
  it("knows the core vocabulary", () => {
    const core: ReadonlyArray<EventType> = ["turn/start", "user/message", "request/sent", "agent/inbox/spliced"]
    for (const type of core) assert.isTrue(EventTypes.isCore(type), type)
    for (const type of ["test/noted", "constructor", "__proto__", ""]) assert.isFalse(EventTypes.isCore(type), type)
  })
})

layer(Sessions.layer)("an event type of an extension", (it) => {
  it.scoped("can be appended for as long as it is registered", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const session = yield* sessions.create()
      assert.strictEqual((yield* Effect.flip(note(session, 1))).code, "UNKNOWN_EVENT_TYPE")
      const logged = yield* Effect.provide(note(session, 1), EventTypes.layerType("test/noted", info(false)))
      assert.deepStrictEqual(logged, { type: "test/noted", seq: 0, time: 0, data: { note: 1 } })
      assert.strictEqual((yield* Effect.flip(note(session, 2))).code, "UNKNOWN_EVENT_TYPE")
    })
  )

  it.scoped("says in every event whether a reader may skip it, so that it can do without the extension", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions.Sessions
      const session = yield* sessions.create()
      const logged = yield* Effect.provide(note(session, 1), EventTypes.layerType("test/noted", info(true)))
      assert.strictEqual(logged.ignorable, true)
      const reader = yield* sessions.create({ seed: session.range(0) })
      assert.strictEqual(reader.length, 2)
      const required = Effect.flip(sessions.create({ seed: [stored(0, "test/noted", { note: 1 })] }))
      assert.strictEqual((yield* required).code, "INVALID_SEED")
    })
  )

  it.effect("is refused when the name is taken", () =>
    Effect.gen(function* () {
      const one = EventTypes.layerType("test/noted", info(true))
      const other = EventTypes.layerType("test/noted", info(true))
      const error = yield* Effect.flip(Effect.provide(Effect.void, Layer.merge(one, other)))
      assert.strictEqual(error.code, "DUPLICATE_NAME")
      assert.include(error.message, '"test/noted" is already registered in the event types')
    })
  )

  it.scoped("may be brought by several that mean the same: it is there while one of them is", () =>
    Effect.gen(function* () {
      const types = yield* EventTypes.EventTypes
      const one = EventTypes.layerType("test/noted", info(true))
      const isThere = () => Option.isSome(types.get("test/noted"))
      const [first, second] = [yield* Scope.make(), yield* Scope.make()]
      yield* Layer.buildWithScope(Layer.fresh(one), first)
      yield* Layer.buildWithScope(Layer.fresh(one), second)
      yield* Scope.close(first, Exit.void)
      assert.isTrue(isThere())
      yield* Scope.close(second, Exit.void)
      assert.isFalse(isThere())
    })
  )
})
