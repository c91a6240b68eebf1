import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck as fc } from "effect"
import { MessageId } from "../src/Ids.ts"
import * as Inbox from "../src/Inbox.ts"
import type { InboxSplice, InboxTarget, SessionEvent } from "../src/SessionEvent.ts"
import { event, said } from "./support.ts"

const spliced = (seq: number, splice: InboxSplice) => event(seq, "agent/inbox/spliced", splice)

const insert = (seq: number, target: InboxTarget, start: number, ...ids: ReadonlyArray<string>) =>
  spliced(seq, { target, start, inserted: ids.map((id) => said(id, id)) })

const folded = (...events: ReadonlyArray<SessionEvent>) =>
  events.reduce((inbox, each) => Either.getOrThrow(Inbox.apply(inbox, each)), Inbox.empty)

const refusal = (inbox: Inbox.Inbox, splice: InboxSplice) =>
  Either.getOrThrow(Either.flip(Inbox.apply(inbox, spliced(9, splice)))).reason

const ids = (inbox: Inbox.Inbox) => ({
  turn: inbox["next-turn"].map(({ id }): string => id),
  step: inbox["next-step"].map(({ id }): string => id)
})

describe("Inbox", () => {
  const two = folded(
    insert(0, "next-turn", 0, "a", "b"),
    insert(1, "next-step", 0, "x"),
    insert(2, "next-turn", 1, "c")
  )

  it("folds insertions into two lists", () => {
    assert.deepStrictEqual(ids(two), { turn: ["a", "c", "b"], step: ["x"] })
    assert.isTrue(Inbox.hasWork(two))
    assert.isFalse(Inbox.hasWork(Inbox.empty))
    assert.isTrue(Inbox.hasWork(folded(insert(0, "next-step", 0, "x"))))
  })

  it("finds a pending message in either list", () => {
    assert.deepStrictEqual(Inbox.find(two, MessageId("b")), { target: "next-turn", index: 2 })
    assert.deepStrictEqual(Inbox.find(two, MessageId("x")), { target: "next-step", index: 0 })
    assert.isUndefined(Inbox.find(two, MessageId("gone")))
  })

  it("removes and replaces", () => {
    const removed = folded(
      insert(0, "next-turn", 0, "a", "b", "c"),
      spliced(1, { target: "next-turn", start: 0, removedCount: 2, inserted: [said("d", "d")], outcome: "canceled" })
    )
    assert.deepStrictEqual(ids(removed).turn, ["d", "c"])
    const again = folded(
      insert(0, "next-turn", 0, "a"),
      spliced(1, { target: "next-turn", start: 0, removedCount: 1, inserted: [said("a", "new")], outcome: "canceled" })
    )
    assert.deepStrictEqual(again["next-turn"], [said("a", "new")])
  })

  it("loses a message by its own user/message event, and by no other", () => {
    const entered = folded(
      insert(0, "next-turn", 0, "a", "b"),
      insert(1, "next-step", 0, "x"),
      event(2, "user/message", said("x", "x")),
      event(3, "user/message", said("a", "a")),
      event(4, "user/message", said("not pending", "n"))
    )
    assert.deepStrictEqual(ids(entered), { turn: ["b"], step: [] })
    const other = event(5, "step/start", { turn: 1, step: 1 })
    assert.strictEqual(Either.getOrThrow(Inbox.apply(entered, other)), entered)
  })

  it("refuses a splice outside of the list", () => {
    for (const [start, removedCount] of [
      [2, 0],
      [-1, 0],
      [0.5, 0],
      [0, 2],
      [1, 1],
      [1, -1],
      [0, 0.5],
      [0, Number.NaN]
    ] as const) {
      const reason = refusal(two, { target: "next-step", start, removedCount, inserted: [], outcome: "canceled" })
      assert.strictEqual(reason, `next-step has 1 messages, it splices ${start}+${removedCount}`)
    }
  })

  it("refuses a message that is pending already, in whichever list", () => {
    const splice = (target: InboxTarget, ...messages: ReadonlyArray<string>): InboxSplice => ({
      target,
      start: 0,
      inserted: messages.map((id) => said(id, id))
    })
    assert.strictEqual(refusal(two, splice("next-step", "a")), "message a is already pending")
    assert.strictEqual(refusal(two, splice("next-step", "x")), "message x is already pending")
    assert.strictEqual(refusal(two, splice("next-turn", "n", "n")), "message n is already pending")
  })

  it("names the event that does not fit", () => {
    const error = Either.getOrThrow(Either.flip(Inbox.apply(Inbox.empty, insert(7, "next-step", 3, "a"))))
    assert.strictEqual(error.code, "INVALID_INBOX_SPLICE")
    assert.strictEqual(
      error.message,
      "event 7 does not fit the pending input: next-step has 0 messages, it splices 3+0"
    )
  })

  it("leaves the inbox it was given alone", () => {
    const before = JSON.stringify(two)
    Either.getOrThrow(Inbox.apply(two, insert(3, "next-turn", 0, "n")))
    Inbox.without(two, MessageId("a"))
    assert.strictEqual(JSON.stringify(two), before)
  })

  const move = fc.record({
    target: fc.constantFrom<InboxTarget>("next-turn", "next-step"),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    remove: fc.double({ min: 0, max: 1, noNaN: true }),
    insert: fc.nat(3),
    enters: fc.boolean()
  })

  it.prop(
    "agrees with two plain arrays, and every message is pending or gone, never twice",
    [fc.array(move)],
    ([moves]) => {
      const plain = { "next-turn": Array.of<string>(), "next-step": Array.of<string>() }
      let inbox = Inbox.empty
      let next = 0
      for (const [seq, made] of moves.entries()) {
        const list = plain[made.target]
        const start = Math.floor(made.at * list.length)
        const [first] = list
        if (made.enters && first !== undefined) {
          list.shift()
          inbox = Either.getOrThrow(Inbox.apply(inbox, event(seq, "user/message", said(first, first))))
        } else {
          const removedCount = Math.floor(made.remove * (list.length - start))
          const inserted = Array.from({ length: made.insert }, () => `m${next++}`)
          list.splice(start, removedCount, ...inserted)
          const splice = { target: made.target, start, removedCount, inserted: inserted.map((id) => said(id, id)) }
          inbox = Either.getOrThrow(Inbox.apply(inbox, spliced(seq, splice)))
        }
        assert.deepStrictEqual(ids(inbox), { turn: plain["next-turn"], step: plain["next-step"] })
      }
    }
  )
})
