// The rule for logs whose numbers do not follow each other, on the damage that people had.
import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import type { LogEntry } from "../src/ChunkRun.ts"
import * as Numbering from "../src/Numbering.ts"
import { event, said } from "./support.ts"

/** A record that says who wrote it. */
const record = (seq: number, text: string) => event(seq, "user/message", said(`${seq}${text}`, text))

const run = (seq: number, ...texts: ReadonlyArray<string>): LogEntry => ({
  kind: "text-delta",
  turn: 1,
  step: 1,
  index: 0,
  seq,
  times: texts.map((_, i) => i),
  texts: [...texts]
})

const number = (...entries: ReadonlyArray<LogEntry>) =>
  Numbering.number(entries.map((entry, i) => ({ place: i + 2, entry })))

const texts = ({ entries }: Numbering.Numbered): ReadonlyArray<string> =>
  entries.map((entry) => {
    if ("kind" in entry) return entry.texts.join("")
    if (entry.type === "session/lost") return "lost"
    if (entry.type === "assistant/chunk" && entry.data.chunk.type === "text-delta") return entry.data.chunk.text
    return entry.type === "user/message" ? entry.data.id : entry.type
  })

describe("Numbering", () => {
  it("takes a log in order as it is", () => {
    const entries = [record(0, "a"), run(1, "x", "y"), record(3, "a")]
    assert.deepStrictEqual(number(...entries), { entries, irregularities: [] })
  })

  it("takes the later of two records of one number when the log goes on from it", () => {
    const numbered = number(record(0, "a"), record(1, "a"), record(1, "b"), record(2, "b"))
    assert.deepStrictEqual(texts(numbered), ["0a", "1b", "2b"])
    assert.deepStrictEqual(numbered.irregularities, [{ kind: "superseded", place: 3, seq: 1 }])
  })

  it("takes the later run where one was written again", () => {
    const numbered = number(
      record(0, "a"),
      ...[1, 2, 3].map((n) => record(n, "a")),
      ...[1, 2, 3, 4].map((n) => record(n, "b"))
    )
    assert.deepStrictEqual(texts(numbered), ["0a", "1b", "2b", "3b", "4b"])
    assert.deepStrictEqual(
      numbered.irregularities.map(({ place }) => place),
      [3, 4, 5]
    )
  })

  it("takes the longer run when the later one is not as long", () => {
    const numbered = number(record(0, "a"), record(1, "a"), record(2, "a"), record(1, "b"))
    assert.deepStrictEqual(texts(numbered), ["0a", "1a", "2a"])
    assert.deepStrictEqual(numbered.irregularities, [{ kind: "superseded", place: 5, seq: 1 }])
  })

  it("leaves a stray copy out", () => {
    const numbered = number(...[0, 1, 2, 3].map((n) => record(n, "a")), record(1, "b"), record(4, "a"))
    assert.deepStrictEqual(texts(numbered), ["0a", "1a", "2a", "3a", "4a"])
    assert.deepStrictEqual(numbered.irregularities, [{ kind: "superseded", place: 6, seq: 1 }])
  })

  it("marks what is missing, and every other event keeps its number", () => {
    const numbered = number(record(2, "a"), record(3, "a"), record(6, "a"))
    assert.deepStrictEqual(texts(numbered), ["lost", "lost", "2a", "3a", "lost", "lost", "6a"])
    assert.deepStrictEqual(
      numbered.entries.map(({ seq }) => seq),
      [0, 1, 2, 3, 4, 5, 6]
    )
    assert.deepStrictEqual(numbered.irregularities, [
      { kind: "missing", place: 2, from: 0, to: 1 },
      { kind: "missing", place: 4, from: 4, to: 5 }
    ])
  })

  it("cuts a run where a later record takes the place of its rest", () => {
    const numbered = number(run(0, "a", "b", "c"), record(1, "z"), record(2, "z"), record(3, "z"))
    assert.deepStrictEqual(texts(numbered), ["a", "1z", "2z", "3z"])
  })

  it("does not believe a number that is far ahead", () => {
    const numbered = number(record(0, "a"), record(9_000_000_000, "b"), record(1, "a"))
    assert.deepStrictEqual(texts(numbered), ["0a", "1a"])
    assert.deepStrictEqual(numbered.irregularities, [{ kind: "far", place: 3, seq: 9_000_000_000 }])
  })

  it("makes a log of anything, and the same again behind what it made", () =>
    fc.assert(
      fc.property(fc.array(fc.nat(30), { maxLength: 60 }), (numbers) => {
        const records = numbers.map((seq, i) => record(seq, String(i)))
        const { entries } = number(...records)
        entries.forEach(({ seq }, i) => assert.strictEqual(seq, i))
        assert.strictEqual(entries.length, numbers.length === 0 ? 0 : Math.max(...numbers) + 1)
        // Whoever continues the log appends to its end, and what was read before is read again.
        const next = record(entries.length, "next")
        assert.deepStrictEqual(number(...records, next).entries, [...entries, next])
      })
    ))
})
