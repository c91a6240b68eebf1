import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import * as ConsumedWork from "../src/ConsumedWork.ts"
import type { EventOf, InboxSplice, SessionEvent, TurnEndReason } from "../src/SessionEvent.ts"
import { makeLog, said } from "./support.ts"

const completed: TurnEndReason = { kind: "completed" }
const blocked: TurnEndReason = { kind: "blocked" }
const aborted: TurnEndReason = { kind: "aborted", reason: { kind: "user" } }
const failed: TurnEndReason = { kind: "error", error: { code: "SERVER", message: "down" } }

const script = () => {
  const log = makeLog()
  const splice = (more: Partial<InboxSplice>) =>
    log.add("agent/inbox/spliced", { target: "next-turn", start: 0, inserted: [], ...more })
  return {
    ...log,
    queue: (id: string) => splice({ inserted: [said(id, id)] }),
    out: (outcome: "canceled" | "dropped") => splice({ removedCount: 1, outcome }),
    replace: (id: string) => splice({ removedCount: 1, inserted: [said(id, id)], outcome: "canceled" }),
    open: (turn: number) => log.add("turn/start", { turn }),
    step: (turn: number) => log.add("step/start", { turn, step: 1 }),
    enter: (id: string) => log.add("user/message", said(id, id)),
    close: (turn: number, reason: TurnEndReason) => log.add("turn/end", { turn, reason })
  }
}

/** What the fold says of what `write` wrote. */
const of = (write: (log: ReturnType<typeof script>) => void) => {
  const log = script()
  write(log)
  const { droppedUnrun, end } = ConsumedWork.fold(log.events)
  return { end, droppedUnrun }
}

/** One prompt, one turn. */
const worked = (log: ReturnType<typeof script>, turn: number, reason: TurnEndReason = completed) => {
  log.queue(`m${turn}`)
  log.open(turn)
  log.step(turn)
  log.enter(`m${turn}`)
  log.close(turn, reason)
}

const nothing = { end: undefined, droppedUnrun: false }
const first = { end: { turn: 1, reason: completed }, droppedUnrun: false }

describe("ConsumedWork", () => {
  it("is the end of the last turn that input entered, however it ended", () => {
    assert.deepStrictEqual(
      of(() => {}),
      nothing
    )
    assert.deepStrictEqual(
      of((log) => worked(log, 1)),
      first
    )
    const two = of((log) => {
      worked(log, 1)
      worked(log, 2, failed)
    })
    assert.deepStrictEqual(two, { end: { turn: 2, reason: failed }, droppedUnrun: false })
  })

  it("does not speak of a turn that is still open", () => {
    const running = of((log) => {
      worked(log, 1)
      log.queue("b")
      log.open(2)
      log.step(2)
      log.enter("b")
    })
    assert.deepStrictEqual(running, first)
  })

  for (const reason of [completed, failed, aborted]) {
    it(`passes over a turn that left its input pending and ended as ${reason.kind}`, () => {
      const passed = of((log) => {
        worked(log, 1)
        log.queue("b")
        log.open(2)
        log.close(2, reason)
      })
      assert.deepStrictEqual(passed, first)
    })
  }

  it("passes over a turn whose step opened and nothing entered", () => {
    const passed = of((log) => {
      worked(log, 1)
      log.queue("b")
      log.open(2)
      log.step(2)
      log.close(2, failed)
    })
    assert.deepStrictEqual(passed, first)
  })

  it("is the end of a turn whose input was refused; that is its answer, and no drop", () => {
    const refused = of((log) => {
      worked(log, 1)
      log.queue("b")
      log.open(2)
      log.out("dropped")
      log.close(2, blocked)
    })
    assert.deepStrictEqual(refused, { end: { turn: 2, reason: blocked }, droppedUnrun: false })
  })

  it("knows of input that a hook left out, so that its turn completed without it", () => {
    const emptied = of((log) => {
      worked(log, 1)
      log.queue("b")
      log.open(2)
      log.out("dropped")
      log.close(2, completed)
    })
    assert.deepStrictEqual(emptied, { ...first, droppedUnrun: true })
  })

  it("knows of input that was withdrawn, between turns and in one that used nothing else", () => {
    const withdrawn = of((log) => {
      worked(log, 1)
      log.queue("b")
      log.out("canceled")
    })
    assert.deepStrictEqual(withdrawn, { ...first, droppedUnrun: true })
    const cleared = of((log) => {
      log.queue("a")
      log.open(1)
      log.out("canceled")
      log.close(1, aborted)
    })
    assert.deepStrictEqual(cleared, { end: undefined, droppedUnrun: true })
  })

  it("takes a replacement for no drop, and forgets drops when input is used again", () => {
    const replaced = of((log) => {
      worked(log, 1)
      log.queue("b")
      log.replace("c")
    })
    assert.deepStrictEqual(replaced, first)
    const again = of((log) => {
      log.queue("a")
      log.out("canceled")
      worked(log, 1)
    })
    assert.deepStrictEqual(again, first)
  })

  it("takes a message in place of others, as a summary is one, for no input", () => {
    const summarised = of((log) => {
      worked(log, 1)
      log.open(2)
      log.replace("x")
      log.add("user/message", said("s", "summary"), {
        surfaceOp: { op: "replace", start: 3, end: 3 },
        sourceEventSeqs: [3]
      })
      log.close(2, failed)
    })
    assert.deepStrictEqual(summarised, first)
  })

  const move = fc.constantFrom(
    "queue",
    "cancel",
    "drop",
    "replace",
    "open",
    "step",
    "enter",
    "complete",
    "fail",
    "block"
  )

  const play = (moves: ReadonlyArray<string>): ReadonlyArray<SessionEvent> => {
    const log = script()
    let turn = 0
    let open = false
    for (const [n, made] of moves.entries()) {
      if (made === "queue") log.queue(`m${n}`)
      if (made === "cancel") log.out("canceled")
      if (made === "drop") log.out("dropped")
      if (made === "replace") log.replace(`m${n}`)
      if (made === "open" && !open) {
        log.open(++turn)
        open = true
      }
      if (!open) continue
      if (made === "step") log.step(turn)
      if (made === "enter") log.enter(`m${n}`)
      const reason = made === "complete" ? completed : made === "fail" ? failed : made === "block" ? blocked : undefined
      if (reason === undefined) continue
      log.close(turn, reason)
      open = false
    }
    return log.events
  }

  const isDrop = (event: SessionEvent) =>
    event.type === "agent/inbox/spliced" && event.data.outcome !== undefined && event.data.inserted.length === 0

  /** The same, looked up from behind. */
  const lookedUp = (events: ReadonlyArray<SessionEvent>) => {
    const uses = (end: EventOf<"turn/end">) => {
      const start = events.findLastIndex(({ seq, type }) => type === "turn/start" && seq < end.seq)
      const inside = events.slice(start, end.seq)
      const refused = inside.some((each) => isDrop(each) && (each.data as InboxSplice).outcome === "dropped")
      return inside.some(({ type }) => type === "user/message") || (refused && end.data.reason.kind !== "completed")
    }
    const end = events.findLast((event): event is EventOf<"turn/end"> => event.type === "turn/end" && uses(event))
    return { end: end?.data, droppedUnrun: events.slice(end === undefined ? 0 : end.seq).some(isDrop) }
  }

  it.prop("is what looking it up from behind finds", [fc.array(move, { maxLength: 40 })], ([moves]) => {
    const events = play(moves)
    const { droppedUnrun, end } = ConsumedWork.fold(events)
    assert.deepStrictEqual({ end, droppedUnrun }, lookedUp(events))
  })

  it.prop("can be taken up anywhere", [fc.array(move, { maxLength: 40 }), fc.nat(40)], ([moves, at]) => {
    const events = play(moves)
    const half = ConsumedWork.fold(events.slice(0, at))
    const frozen = JSON.stringify(half)
    assert.deepStrictEqual(events.slice(at).reduce(ConsumedWork.apply, half), ConsumedWork.fold(events))
    assert.strictEqual(JSON.stringify(half), frozen)
  })
})
