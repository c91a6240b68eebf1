import { CallId } from "@dsh/protocol/Ids"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import * as EventTypes from "../src/EventTypes.ts"
import { events, header, make, note, refused, result, said, stored } from "./support.ts"

layer(Layer.empty)("Session.make", (it) => {
  it.effect("is empty without a seed", () =>
    Effect.gen(function* () {
      const session = yield* make({ header: header({ cwd: "/w" }) })
      assert.strictEqual(session.id, "s")
      assert.strictEqual(session.header.cwd, "/w")
      assert.strictEqual(session.firstLiveSeq, 0)
      assert.deepStrictEqual(events(session), [])
    })
  )

  const seed = [stored(0, "turn/start", { turn: 1 }), stored(1, "user/message", said("m"), { surfaceOp: "append" })]

  it.effect("takes it over and marks its end", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(40)
      const session = yield* make({ seed })
      assert.deepStrictEqual(events(session), [...seed, stored(2, "session/end-seed", {}, { time: 40 })])
      assert.strictEqual(session.firstLiveSeq, 2)
      assert.deepStrictEqual(session.conversation.messages, [said("m")])
      assert.strictEqual((yield* note(session, 1)).seq, 3)
    })
  )

  it.effect("marks an empty seed, and does not mark one that ends in a mark", () =>
    Effect.gen(function* () {
      const empty = yield* make({ seed: [] })
      assert.strictEqual(empty.firstLiveSeq, 0)
      assert.deepStrictEqual(
        events(empty).map(({ type }) => type),
        ["session/end-seed"]
      )
      const marked = [...seed, stored(2, "session/end-seed", {})]
      const again = yield* make({ seed: marked })
      assert.strictEqual(again.firstLiveSeq, 3)
      assert.deepStrictEqual(events(again), marked)
      const inside = yield* make({ seed: [stored(0, "session/end-seed", {}), stored(1, "turn/start", { turn: 1 })] })
      assert.deepStrictEqual(
        events(inside).map(({ type }) => type),
        ["session/end-seed", "turn/start", "session/end-seed"]
      )
    })
  )

  it.effect("reads each event once", () =>
    Effect.gen(function* () {
      let reads = 0
      const session = yield* make({
        seed: (function* () {
          for (const event of seed) {
            reads++
            yield event
          }
        })()
      })
      assert.strictEqual(reads, 2)
      assert.strictEqual(session.length, 3)
    })
  )

  it.effect("inherits no pending input, and restores that of its own", () =>
    Effect.gen(function* () {
      const splices = [
        stored(0, "agent/inbox/spliced", { target: "next-turn", start: 0, inserted: [said("a")] }),
        stored(1, "session/end-seed", {}),
        stored(2, "agent/inbox/spliced", { target: "next-turn", start: 0, inserted: [said("b")] })
      ]
      const resumed = yield* make({ seed: [splices[0]!, splices[1]!] })
      assert.deepStrictEqual(resumed.inbox["next-turn"], [said("a")])
      const child = yield* make({ header: header({ seedLength: 1 }), seed: splices })
      assert.deepStrictEqual(child.inbox["next-turn"], [said("b")])
    })
  )

  it.effect("refuses what is not a log, naming the event", () =>
    Effect.gen(function* () {
      const append = { surfaceOp: "append" }
      const cases: ReadonlyArray<readonly [event: unknown, reason: string]> = [
        [stored(1, "turn/start", { turn: 1 }), "it is numbered 1"],
        [{ ...stored(0, "turn/start", { turn: 1 }), extra: 1 }, 'an event has no member "extra"'],
        [{ ...stored(0, "turn/start", { turn: 1 }), time: 0.5 }, "time is not a whole number of milliseconds"],
        [{ ...stored(0, "turn/start", { turn: 1 }), ignorable: false }, "ignorable is not true"],
        [{ type: "turn/start", seq: 0, time: 0 }, "it has no data"],
        [stored(0, "turn/start", { turn: 1 }, append), "turn/start is not a surface event"],
        [stored(0, "user/message", said("m")), "it has no surfaceOp"],
        [stored(0, "user/message", said(""), append), "id is not a non-empty string"],
        [
          { ...stored(0, "user/message", said("m"), append), data: { ...said("m"), role: "assistant" } },
          "role is not user"
        ],
        [
          stored(
            0,
            "tool/result",
            { turn: 1, step: 1, message: { ...result("r", "c", "x"), source: { kind: "tool", callId: CallId("d") } } },
            append
          ),
          "source and block name two calls"
        ],
        [
          {
            type: "request/header",
            seq: 0,
            time: 0,
            data: { header: { config: { provider: "p" }, wire: { format: "f" } }, reason: "initial" }
          },
          "model is not a non-empty string"
        ],
        [
          stored(0, "agent/inbox/spliced", { target: "next-turn", start: 1, inserted: [] }),
          "event 0 does not fit the pending input"
        ],
        [{ type: "unheard/of", seq: 0, time: 0, data: {} }, 'no extension has registered the event type "unheard/of"']
      ]
      for (const [event, reason] of cases) {
        const { code, message } = yield* refused(make({ seed: [event as SessionEvent] }))
        assert.strictEqual(code, "INVALID_SEED")
        assert.match(message, /^session s: event 0 of the seed is refused: /)
        assert.include(message, reason)
      }
      const twice = yield* refused(make({ seed: [...seed, seed[1]!] }))
      assert.include(twice.message, "event 2 of the seed is refused: it is numbered 1")
    })
  )

  it.effect("skips over events of unknown types that allow it", () =>
    Effect.gen(function* () {
      const session = yield* make({
        isKnownType: EventTypes.isCore,
        seed: [stored(0, "test/noted", { note: 1 }, { ignorable: true })]
      })
      assert.strictEqual(session.length, 2)
    })
  )

  it.effect("reports a seed that cannot be read", () =>
    Effect.gen(function* () {
      const seed: Iterable<SessionEvent> = {
        [Symbol.iterator]: () => {
          throw new Error("disk gone")
        }
      }
      assert.deepStrictEqual(yield* refused(make({ seed })), {
        code: "INVALID_SEED",
        message: "session s: the seed cannot be read: disk gone"
      })
    })
  )
})
