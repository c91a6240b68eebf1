// What is left of a log that lost events: whatever was lost, it is a log again that a session could have written.
import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import * as Either from "effect/Either"
import type { LogEntry } from "../src/ChunkRun.ts"
import * as Conversation from "../src/Conversation.ts"
import { Enclosure } from "../src/Enclosure.ts"
import { CallId } from "../src/Ids.ts"
import * as Inbox from "../src/Inbox.ts"
import * as Mending from "../src/Mending.ts"
import * as Numbering from "../src/Numbering.ts"
import type { SessionEvent, SessionEvents } from "../src/SessionEvent.ts"
import { answered, event, result, said } from "./support.ts"

/** Turns of steps, each with that many calls. */
const log = (turns: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<SessionEvent> => {
  const events: Array<SessionEvent> = []
  const add = <Type extends keyof SessionEvents>(type: Type, data: SessionEvents[Type]) =>
    void events.push(event(events.length, type, data) as SessionEvent)
  turns.forEach((steps, t) => {
    const turn = t + 1
    const prompt = said(`prompt ${turn}`, "go on")
    add("agent/inbox/spliced", { target: "next-turn", start: 0, inserted: [prompt] })
    add("turn/start", { turn })
    steps.forEach((calls, s) => {
      const step = s + 1
      add("step/start", { turn, step })
      if (step === 1) add("user/message", prompt)
      const ids = Array.from({ length: calls }, (_, c) => CallId(`call ${turn}.${step}.${c}`))
      add("assistant/chunk", { turn, step, chunk: { type: "finish", reason: { kind: "stop" } } })
      const blocks = ids.map((id) => ({ type: "tool-call", id, name: "do", arguments: "{}" }) as const)
      add("assistant/message", { turn, step, message: answered(`answer ${turn}.${step}`, "so", ...blocks) })
      for (const callId of ids) add("tool/call", { turn, step, callId, name: "do", arguments: "{}" })
      for (const id of ids) add("tool/result", { turn, step, message: result(`result ${id}`, id, "done") })
      add("step/end", { turn, step })
    })
    add("turn/end", { turn, reason: { kind: "completed" } })
  })
  return events
}

const logs = fc.array(fc.array(fc.nat(3), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }).map(log)

/** The log without some of its events, mended. */
const without = (events: ReadonlyArray<SessionEvent>, isLost: (seq: number) => boolean) => {
  const records = events.filter(({ seq }) => !isLost(seq)).map((entry) => ({ place: entry.seq, entry }))
  return Mending.mend(Numbering.number(records).entries)
}

const outline = (entries: ReadonlyArray<LogEntry>) =>
  entries.map((entry) => ("kind" in entry ? entry.kind : entry.type.replace(/^.*\//, "")))

/** Folds the log, and holds every call and every answer against each other. */
const assertSound = (entries: ReadonlyArray<LogEntry>): void => {
  const conversation = Conversation.empty()
  let inbox = Inbox.empty
  const open = new Set<CallId>()
  entries.forEach((entry, seq) => {
    assert.strictEqual(entry.seq, seq)
    if ("kind" in entry) return
    assert.isTrue(Either.isRight(conversation.check(entry)), JSON.stringify(entry))
    conversation.apply(entry)
    inbox = Either.getOrThrow(Inbox.apply(inbox, entry))
    if (entry.type === "tool/result") assert.isTrue(open.delete(entry.data.message.source.callId))
    if (entry.type !== "assistant/message" && entry.type !== "user/message") return
    assert.deepStrictEqual([...open], [])
    if (entry.type === "user/message") return
    for (const block of entry.data.message.content) if (block.type === "tool-call") open.add(block.id)
  })
}

const problems = (entries: ReadonlyArray<LogEntry>): ReadonlyArray<string> => {
  const enclosure = new Enclosure()
  return entries.flatMap((entry) => {
    if ("kind" in entry) return []
    const problem = enclosure.problem(entry)
    enclosure.apply(entry)
    return problem === undefined ? [] : [`${entry.seq} ${entry.type}: ${problem}`]
  })
}

describe("Mending", () => {
  const whole = log([[2, 0]])
  const seqOf = (type: string, n = 0) => whole.filter((each) => each.type === type)[n]!.seq
  const lose = (...seqs: ReadonlyArray<number>) => without(whole, (seq) => seqs.includes(seq))

  it("changes nothing of a log that lost nothing", () =>
    fc.assert(
      fc.property(logs, (events) => {
        assert.deepStrictEqual(Mending.mend(events), { entries: events, changes: [] })
        assert.deepStrictEqual(problems(events), [])
      })
    ))

  it("a lost result is one whose outcome is unknown", () => {
    const seq = seqOf("tool/result", 0)
    const { changes, entries } = lose(seq)
    assert.deepStrictEqual(changes, [{ kind: "filled", seq, type: "tool/result" }])
    const filled = entries[seq]
    assert.isTrue(filled !== undefined && "type" in filled && filled.type === "tool/result")
    assert.deepStrictEqual((filled as { data: SessionEvents["tool/result"] }).data.error, {
      name: "ToolOutcomeUnknownError",
      code: "TOOL_OUTCOME_UNKNOWN"
    })
    assert.deepStrictEqual(problems(entries), [])
  })

  it("without the answer that asked for them, calls and results are lost as well", () => {
    const { changes, entries } = lose(seqOf("assistant/message"))
    assert.deepStrictEqual(
      changes.map(({ kind }) => kind),
      ["orphaned", "orphaned", "orphaned", "orphaned"]
    )
    assert.deepStrictEqual(problems(entries), [])
  })

  it("ends and beginnings of steps and turns are put back", () => {
    const seqs = [seqOf("step/end", 0), seqOf("step/start", 1)]
    assert.deepStrictEqual(outline(lose(...seqs).entries), outline(whole))
    assert.deepStrictEqual(outline(lose(seqOf("turn/start")).entries), outline(whole))
  })

  it("an answer asks no longer for calls whose results have no place", () => {
    const kept = whole.filter(({ type }) => type !== "tool/result" && type !== "tool/call")
    const { changes, entries } = Mending.mend(kept.map((each, seq) => ({ ...each, seq })))
    assert.deepStrictEqual(
      changes.map(({ kind }) => kind),
      ["unasked"]
    )
    assertSound(entries)
  })

  it("whatever is lost, the rest is a sound log", () =>
    fc.assert(
      fc.property(logs, fc.infiniteStream(fc.integer({ min: 0, max: 4 })), (events, dice) => {
        const lost = new Set(events.filter(() => dice.next().value === 0).map(({ seq }) => seq))
        assertSound(without(events, (seq) => lost.has(seq)).entries)
      })
    ))

  it("whichever one event is lost, the turns and steps of the rest enclose each other", () =>
    fc.assert(
      fc.property(logs, (events) => {
        for (const { seq, type } of events.slice(0, -1)) {
          if (type === "assistant/chunk") continue
          assert.deepStrictEqual(problems(without(events, (each) => each === seq).entries), [], `${seq} ${type}`)
        }
      }),
      { numRuns: 30 }
    ))
})
