import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import * as ChunkRun from "../src/ChunkRun.ts"
import type { LogEntry } from "../src/ChunkRun.ts"
import { CallId } from "../src/Ids.ts"
import type { StreamChunk } from "../src/StreamChunk.ts"

const text = (value: string, index = 0): StreamChunk => ({ type: "text-delta", index, text: value })

const index = fc.nat(1)
const piece = fc.string({ maxLength: 3 })
const chunk: fc.Arbitrary<StreamChunk> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant("text-delta" as const), index, text: piece }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("reasoning-delta" as const), index, text: piece }) },
  {
    weight: 4,
    arbitrary: fc.record(
      {
        type: fc.constant("tool-call-delta" as const),
        index,
        id: fc.constantFrom("a", "b").map(CallId),
        name: fc.constantFrom("", "read"),
        argumentsDelta: piece
      },
      { requiredKeys: ["type", "index", "id", "argumentsDelta"] }
    )
  },
  fc.record({ type: fc.constant("block-start" as const), index, blockType: fc.constant("text" as const) }),
  fc.constant<StreamChunk>({ type: "usage", usage: { inputTokens: 1, outputTokens: 1 } }),
  fc.constant<StreamChunk>({ type: "finish", reason: { kind: "stop" } })
)

interface Batch {
  readonly turn: number
  readonly step: number
  readonly chunks: ReadonlyArray<StreamChunk>
}
const batch: fc.Arbitrary<Batch> = fc.record({
  turn: fc.constantFrom(1, 2),
  step: fc.constantFrom(1, 2),
  chunks: fc.array(chunk, { maxLength: 8 })
})

const unpack = (entries: ReadonlyArray<LogEntry>) =>
  entries.flatMap((entry) =>
    ChunkRun.isRun(entry) ? Array.from(entry.texts, (_, i) => ChunkRun.eventAt(entry, i)) : [entry]
  )

describe("ChunkRun", () => {
  it("packs consecutive deltas of one kind and block, and nothing else", () => {
    const entries = ChunkRun.pack(1, 2, 10, 99, [
      text("a"),
      text("b"),
      text("c", 1),
      { type: "finish", reason: { kind: "stop" } }
    ])
    assert.deepStrictEqual(entries, [
      { kind: "text-delta", turn: 1, step: 2, index: 0, seq: 10, times: [99, 99], texts: ["a", "b"] },
      { kind: "text-delta", turn: 1, step: 2, index: 1, seq: 12, times: [99], texts: ["c"] },
      {
        type: "assistant/chunk",
        seq: 13,
        time: 99,
        data: { turn: 1, step: 2, chunk: { type: "finish", reason: { kind: "stop" } } }
      }
    ])
    assert.deepStrictEqual(entries.map(ChunkRun.sizeOf), [2, 1, 1])
  })

  it("keeps fragments of two calls apart, and the one that carries the name", () => {
    const call = (id: string, name?: string): StreamChunk => ({
      type: "tool-call-delta",
      index: 0,
      id: CallId(id),
      ...(name !== undefined && { name }),
      argumentsDelta: "x"
    })
    const entries = ChunkRun.pack(1, 1, 0, 0, [call("a", "read"), call("a"), call("a"), call("b")])
    assert.deepStrictEqual(entries.map(ChunkRun.sizeOf), [1, 2, 1])
  })

  it("extends a run only with what follows it", () => {
    const run = (seq: number, step = 1): ChunkRun.ChunkRun => {
      const [first] = ChunkRun.pack(1, step, seq, 5, [text("a"), text("b")])
      assert.isTrue(first !== undefined && ChunkRun.isRun(first))
      return first as ChunkRun.ChunkRun
    }
    const grown = run(0)
    assert.isFalse(ChunkRun.extend(grown, run(3)))
    assert.isFalse(ChunkRun.extend(grown, run(2, 2)))
    assert.deepStrictEqual(grown, run(0))
    assert.isTrue(ChunkRun.extend(grown, run(2)))
    assert.deepStrictEqual(grown.texts, ["a", "b", "a", "b"])
    assert.deepStrictEqual(grown.times, [5, 5, 5, 5])
  })

  it.prop(
    "unpacks to exactly the events that were packed, batch by batch and extended",
    [fc.array(batch)],
    ([batches]) => {
      const expected: Array<unknown> = []
      const log: Array<LogEntry> = []
      let seq = 0
      for (const [time, { chunks, step, turn }] of batches.entries()) {
        const entries = ChunkRun.pack(turn, step, seq, time, chunks)
        assert.strictEqual(
          entries.reduce((size, entry) => size + ChunkRun.sizeOf(entry), 0),
          chunks.length
        )
        for (const entry of entries) {
          const last = log.at(-1)
          const joined =
            last !== undefined && ChunkRun.isRun(last) && ChunkRun.isRun(entry) && ChunkRun.extend(last, entry)
          if (!joined) log.push(entry)
        }
        for (const each of chunks)
          expected.push({ type: "assistant/chunk", seq: seq++, time, data: { turn, step, chunk: each } })
      }
      assert.deepStrictEqual(unpack(log), expected)
    }
  )
})
