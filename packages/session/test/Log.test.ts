import { isRun } from "@dsh/protocol/ChunkRun"
import * as ChunkRun from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { Log } from "../src/Session/Log.ts"
import { delta, stored } from "./support.ts"

const chunk: fc.Arbitrary<StreamChunk> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.string({ maxLength: 2 }), fc.nat(1)).map(([text, index]) => delta(text, index)) },
  { weight: 1, arbitrary: fc.constant<StreamChunk>({ type: "finish", reason: { kind: "stop" } }) }
)

/** Batches of chunks, each followed by other events. */
const batches = fc.array(fc.record({ chunks: fc.array(chunk, { maxLength: 6 }), others: fc.nat(2) }), { maxLength: 8 })

const filled = (plan: ReadonlyArray<{ readonly chunks: ReadonlyArray<StreamChunk>; readonly others: number }>) => {
  const log = new Log()
  const plain: Array<SessionEvent> = []
  for (const [time, { chunks, others }] of plan.entries()) {
    for (const entry of ChunkRun.pack(1, 1, plain.length, time, chunks)) log.push(entry)
    for (const each of chunks) {
      plain.push({ type: "assistant/chunk", seq: plain.length, time, data: { turn: 1, step: 1, chunk: each } })
    }
    for (let i = 0; i < others; i++) {
      const event = stored(plain.length, "turn/start", { turn: 1 })
      log.push(event)
      plain.push(event)
    }
  }
  return { log, plain }
}

describe("Log", () => {
  it.prop("gives every event by its seq", [batches], ([plan]) => {
    const { log, plain } = filled(plan)
    assert.strictEqual(log.length, plain.length)
    assert.deepStrictEqual(
      plain.map((_, seq) => log.at(seq)),
      plain
    )
    for (const outside of [-1, plain.length, 0.5, Number.NaN]) assert.isUndefined(log.at(outside))
  })

  it.prop(
    "gives every range as a plain array does",
    [batches, fc.integer({ min: -3, max: 40 }), fc.integer({ min: -3, max: 40 })],
    ([plan, from, to]) => {
      const { log, plain } = filled(plan)
      const start = Math.max(0, from)
      assert.deepStrictEqual([...log.range(from, to)], plain.slice(start, Math.max(start, to)))
      assert.deepStrictEqual([...log.range(from, Number.POSITIVE_INFINITY)], plain.slice(start))
    }
  )

  it("joins what arrives piece by piece, and leaves the pieces alone", () => {
    const log = new Log()
    const pieces: Array<LogEntry> = []
    for (let i = 0; i < 3; i++) {
      const [run] = ChunkRun.pack(1, 1, i, i, [delta(`${i}`)])
      pieces.push(run!)
      log.push(run!)
    }
    assert.deepStrictEqual(
      pieces.map((piece) => isRun(piece) && piece.texts),
      [["0"], ["1"], ["2"]]
    )
    assert.deepStrictEqual(
      [...log.range(0, 3)].map(({ seq, time }) => [seq, time]),
      [
        [0, 0],
        [1, 1],
        [2, 2]
      ]
    )
  })

  it("may grow while it is read", () => {
    const { log, plain } = filled([{ chunks: [delta("a"), delta("b")], others: 1 }])
    const seen: Array<number> = []
    for (const { seq } of log.range(0, Number.POSITIVE_INFINITY)) {
      seen.push(seq)
      if (seq < 3) log.push(stored(log.length, "turn/start", { turn: 1 }))
    }
    assert.deepStrictEqual(
      seen,
      plain.map((_, seq) => seq)
    )
  })
})
