import { assert, describe, it } from "@effect/vitest"
import * as JsonlCodec from "@dsh/persistence/JsonlCodec"
import { eventsOf } from "@dsh/persistence/StoredSession"
import * as ChunkRun from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import { CallId } from "@dsh/protocol/Ids"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import * as Schemas from "@dsh/protocol/Schemas"
import { Arbitrary, Either, FastCheck } from "effect"

const lines = (text: string): ReadonlyArray<string> => text.split("\n").slice(0, -1)

const decode = (text: string): ReadonlyArray<SessionEvent> => [...eventsOf(lines(text).map(JsonlCodec.decodeEntry))]

const viaJson = (events: ReadonlyArray<SessionEvent>): ReadonlyArray<SessionEvent> => JSON.parse(JSON.stringify(events))

/** A few kinds, steps, blocks and times, so that runs begin and end often. */
const delta = FastCheck.record({
  kind: FastCheck.constantFrom("text-delta" as const, "reasoning-delta" as const, "tool-call-delta" as const),
  step: FastCheck.constantFrom(1, 2),
  index: FastCheck.constantFrom(0, 1),
  id: FastCheck.constantFrom("a", "b"),
  name: FastCheck.constantFrom(undefined, "", "bash"),
  time: FastCheck.oneof(FastCheck.nat(5), FastCheck.maxSafeInteger()),
  text: FastCheck.fullUnicodeString({ maxLength: 3 })
})

const deltas: FastCheck.Arbitrary<ReadonlyArray<SessionEvent>> = FastCheck.array(
  FastCheck.tuple(delta, FastCheck.integer({ min: 1, max: 5 })),
  { maxLength: 12 }
).map((groups) =>
  groups
    .flatMap(([one, times]) => Array.from({ length: times }, () => one))
    .map(({ id, index, kind, name, step, text, time }, seq): SessionEvent => ({
      type: "assistant/chunk",
      seq,
      time,
      data: {
        turn: 1,
        step,
        chunk:
          kind === "tool-call-delta"
            ? { type: kind, index, id: CallId(id), ...(name !== undefined && { name }), argumentsDelta: text }
            : { type: kind, index, text }
      }
    }))
)

/** The same events as a live session may hand them out: some of them packed. */
const asEntries = (events: ReadonlyArray<SessionEvent>): ReadonlyArray<LogEntry> =>
  events.flatMap((event) =>
    event.type === "assistant/chunk" && event.seq % 3 !== 0
      ? ChunkRun.pack(event.data.turn, event.data.step, event.seq, event.time, [event.data.chunk])
      : event
  )

describe("JsonlCodec", () => {
  it.prop("gives back every delta exactly, however they are packed", [deltas], ([events]) => {
    const text = JsonlCodec.encode(asEntries(events))
    assert.strictEqual(text, JsonlCodec.encode(events))
    assert.deepStrictEqual(decode(text), events)
  })

  it.prop(
    "gives back every core event exactly",
    [FastCheck.array(Arbitrary.make(Schemas.CoreEvent), { maxLength: 5 })],
    ([drawn]) => {
      const events = viaJson(drawn.map((event, seq) => ({ ...event, seq })))
      assert.deepStrictEqual(decode(JsonlCodec.encode(events)), events)
    }
  )

  it("packs three deltas and not two", () => {
    const events = (texts: ReadonlyArray<string>) =>
      texts.map((text, seq): SessionEvent => ({
        type: "assistant/chunk",
        seq,
        time: 100 - seq,
        data: { turn: 1, step: 2, chunk: { type: "text-delta", index: 0, text } }
      }))
    assert.deepStrictEqual(lines(JsonlCodec.encode(events(["a", "b"]))), [
      '{"type":"assistant/chunk","seq":0,"time":100,"data":{"turn":1,"step":2,"chunk":{"type":"text-delta","index":0,"text":"a"}}}',
      '{"type":"assistant/chunk","seq":1,"time":99,"data":{"turn":1,"step":2,"chunk":{"type":"text-delta","index":0,"text":"b"}}}'
    ])
    assert.deepStrictEqual(lines(JsonlCodec.encode(events(["a", "b", "c"]))), [
      '{"type":"text-chunks","seq0":0,"time0":100,"data":{"turn":1,"step":2,"index":0,"dt":[-1,-1],"texts":["a","b","c"]}}'
    ])
  })

  it("packs arguments with the call they belong to, and a name only when there is one", () => {
    const row = (name: string | undefined) =>
      JsonlCodec.encode([
        {
          kind: "tool-call-delta",
          turn: 1,
          step: 1,
          index: 0,
          seq: 0,
          id: CallId("c"),
          name,
          times: [1, 1, 3],
          texts: ["{", "", "}"]
        }
      ])
    const data = (name: string) => `"data":{"turn":1,"step":1,"index":0,"dt":[0,2],"id":"c",${name}"args":["{","","}"]}`
    assert.strictEqual(row(undefined), `{"type":"tool-call-chunks","seq0":0,"time0":1,${data("")}}\n`)
    assert.strictEqual(row(""), `{"type":"tool-call-chunks","seq0":0,"time0":1,${data('"name":"",')}}\n`)
  })

  it("leaves verbatim what a row could not give back", () => {
    const chunk = { type: "text-delta", index: 0, text: "x" } as const
    const event = (seq: number, fields: object): SessionEvent => ({
      type: "assistant/chunk",
      seq,
      time: seq,
      data: { turn: 1, step: 1, chunk },
      ...fields
    })
    const events = [
      event(0, { ignorable: true }),
      event(1, { data: { turn: 1, step: 1, chunk, more: 1 } }),
      event(2, { data: { turn: 1, step: 1, chunk: { ...chunk, more: 1 } } }),
      event(3, { time: Number.MIN_SAFE_INTEGER }),
      event(4, { time: Number.MAX_SAFE_INTEGER }),
      event(5, { time: Number.MIN_SAFE_INTEGER }),
      ...[6, 7, 8].map((seq) => event(seq, { data: { turn: 1, step: 1, chunk: { ...chunk, index: -1 } } }))
    ]
    const text = JsonlCodec.encode(events)
    assert.strictEqual(lines(text).length, events.length)
    assert.deepStrictEqual(decode(text), events)
  })

  it("takes a malformed row whole or not at all", () => {
    const good = { turn: 1, step: 1, index: 0, dt: [1, 1], texts: ["a", "b", "c"] }
    const row = (data: object, fields: object = {}) =>
      JSON.stringify({ type: "text-chunks", seq0: 0, time0: 5, data, ...fields })
    assert.strictEqual(ChunkRun.sizeOf(JsonlCodec.decodeEntry(row(good))), 3)
    const bad = [
      row({ ...good, dt: [1] }),
      row({ ...good, dt: [1, 1, 1] }),
      row({ ...good, dt: [1, 0.5] }),
      row({ ...good, dt: [1, "1"] }),
      row({ ...good, dt: undefined }),
      row({ ...good, texts: ["a", "b", 3] }),
      row({ ...good, texts: [], dt: [] }),
      row({ ...good, turn: "1" }),
      row({ ...good, step: -1 }),
      row({ ...good, args: ["a", "b", "c"] }),
      row({ ...good, more: 1 }),
      row(good, { seq0: -1 }),
      row(good, { time0: 1.5 }),
      row(good, { data: null }),
      row(good, { more: 1 }),
      row(good, { type: "tool-call-chunks" }),
      row({ ...good, texts: undefined, args: ["a", "b", "c"] }, { type: "tool-call-chunks" })
    ]
    for (const line of bad) assert.throws(() => JsonlCodec.decodeEntry(line), undefined, undefined, line)
  })

  it("looks at the version before anything else of a header", () => {
    const decoded = (fields: object) => JsonlCodec.decodeHeader(JSON.stringify({ type: "session", ...fields }))
    const problem = (fields: object) => Either.getOrThrow(Either.flip(decoded(fields)))
    assert.include(problem({ version: 2, id: 7 }).reason, "upgrade dsh")
    assert.strictEqual(problem({ version: 2 }).code, "UNSUPPORTED_FORMAT")
    assert.include(problem({ version: 0 }).reason, "older version")
    assert.strictEqual(problem({ version: "1" }).code, "CORRUPT_LOG")
    assert.strictEqual(problem({ version: 1, id: "s", createdAt: 1 }).code, "CORRUPT_LOG")
    assert.isTrue(Either.isRight(decoded({ version: 1, id: "s", createdAt: 1, delegationDepth: 0 })))
  })
})
