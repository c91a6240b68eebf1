import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck as fc } from "effect"
import type { ContentBlock } from "../src/Block.ts"
import * as BlockAssembler from "../src/BlockAssembler.ts"
import { CallId } from "../src/Ids.ts"
import type { FinishReason, ReplayEnvelope, StreamChunk } from "../src/StreamChunk.ts"

const fed = (chunks: ReadonlyArray<StreamChunk>): BlockAssembler.BlockAssembler => {
  const assembler = BlockAssembler.make()
  for (const chunk of chunks) assembler.push(chunk)
  return assembler
}

const assembled = (chunks: ReadonlyArray<StreamChunk>) => Either.getOrThrow(fed(chunks).assemble())
const blocks = (chunks: ReadonlyArray<StreamChunk>) => assembled(chunks).blocks

const text = (index: number, value: string): StreamChunk => ({ type: "text-delta", index, text: value })
const reasoning = (index: number, value: string): StreamChunk => ({ type: "reasoning-delta", index, text: value })
const call = (index: number, id: string, argumentsDelta: string, name?: string): StreamChunk => ({
  type: "tool-call-delta",
  index,
  id: CallId(id),
  ...(name !== undefined && { name }),
  argumentsDelta
})
const start = (index: number, blockType: ContentBlock["type"]): StreamChunk => ({
  type: "block-start",
  index,
  blockType
})
const end = (index: number, block: ContentBlock): StreamChunk => ({ type: "block-end", index, block })
const finish = (reason: FinishReason, replayState?: ReplayEnvelope): StreamChunk => ({
  type: "finish",
  reason,
  ...(replayState !== undefined && { replayState })
})
const toolCall = (id: string, name: string, args: string): ContentBlock => ({
  type: "tool-call",
  id: CallId(id),
  name,
  arguments: args
})

describe("BlockAssembler", () => {
  it("keeps blocks in the order in which their index was first seen", () => {
    assert.deepStrictEqual(blocks([text(5, "a"), reasoning(0, "b"), text(5, "c"), start(2, "text"), text(0, "d")]), [
      { type: "text", text: "ac" },
      { type: "reasoning", text: "bd" },
      { type: "text", text: "" }
    ])
  })

  it("opens a block with the first delta, of its kind", () => {
    assert.deepStrictEqual(blocks([text(0, "t"), reasoning(1, "r"), call(2, "c", "{}", "read")]), [
      { type: "text", text: "t" },
      { type: "reasoning", text: "r" },
      toolCall("c", "read", "{}")
    ])
  })

  it("believes the end of a block, the first one, and ignores what follows for it", () => {
    const first: ContentBlock = { type: "text", text: "whole" }
    assert.deepStrictEqual(
      blocks([
        text(0, "par"),
        end(0, first),
        text(0, "late"),
        end(0, { type: "text", text: "other" }),
        text(1, "next")
      ]),
      [first, { type: "text", text: "next" }]
    )
    assert.deepStrictEqual(blocks([end(3, first)]), [first])
    assert.deepStrictEqual(blocks([call(0, "a", "{", "x"), end(0, toolCall("b", "y", "{}")), call(0, "c", "}")]), [
      toolCall("b", "y", "{}")
    ])
  })

  it("takes the last id and name of a call, keeps its arguments as they came", () => {
    assert.deepStrictEqual(blocks([call(0, "a", '{"p": ', "re"), call(0, "b", " 1 }", ""), call(0, "", "x", "read")]), [
      toolCall("b", "read", '{"p":  1 }x')
    ])
  })

  it("makes up the id of a call that has none", () => {
    assert.deepStrictEqual(blocks([call(4, "", "{}", "read")]), [toolCall("call-4", "read", "{}")])
  })

  it("takes a missing finish as stop, and the last usage", () => {
    const before = { inputTokens: 1, outputTokens: 1 }
    const usage = { inputTokens: 2, outputTokens: 3, cacheReadTokens: 4 }
    const none = assembled([])
    assert.deepStrictEqual(none, { blocks: [], finish: { kind: "stop" }, usage: undefined, replayState: undefined })
    assert.deepStrictEqual(
      assembled([
        { type: "usage", usage: before },
        { type: "usage", usage }
      ]).usage,
      usage
    )
    const assembler = fed([{ type: "usage", usage }])
    assert.strictEqual(assembler.finish(), undefined)
    assert.deepStrictEqual(assembler.usage(), usage)
  })

  it("takes the first finish", () => {
    const assembler = fed([finish({ kind: "tool-calls" }, { response: 1 }), finish({ kind: "stop" }, { response: 2 })])
    assert.deepStrictEqual(assembler.finish(), { kind: "tool-calls" })
    assert.deepStrictEqual(Either.getOrThrow(assembler.assemble()).replayState, { response: 1 })
  })

  describe("after max-tokens", () => {
    const cut = [text(0, "a"), call(1, "c", "{", "x"), end(2, toolCall("d", "y", "{}")), reasoning(3, "b")]

    it("drops every tool call, closed ones too", () => {
      assert.deepStrictEqual(blocks([...cut, finish({ kind: "max-tokens" })]), [
        { type: "text", text: "a" },
        { type: "reasoning", text: "b" }
      ])
    })

    it("prunes the replay envelope at the same places", () => {
      const state = { response: { id: 1 }, blocks: [["a", 1], "call", { call: 2 }, ["b", [2]]] }
      assert.deepStrictEqual(assembled([...cut, finish({ kind: "max-tokens" }, state)]).replayState, {
        response: { id: 1 },
        blocks: [
          ["a", 1],
          ["b", [2]]
        ]
      })
    })

    it("keeps them when the response was whole", () => {
      const state = { response: null, blocks: [1, [2], 3, 4] }
      const whole = assembled([...cut, finish({ kind: "tool-calls" }, state)])
      assert.strictEqual(whole.blocks.length, 4)
      assert.deepStrictEqual(whole.replayState, state)
    })
  })

  it("discards a replay envelope that does not match the blocks, keeps one that claims no match", () => {
    const replay = (state: ReplayEnvelope) => assembled([text(0, "a"), finish({ kind: "stop" }, state)]).replayState
    assert.isUndefined(replay({ response: 1, blocks: [] }))
    assert.isUndefined(replay({ response: 1, blocks: [1, 2] }))
    assert.deepStrictEqual(replay({ response: 1 }), { response: 1 })
  })

  it("refuses to guess a block of unknown kind that was never closed", () => {
    const error = Either.getOrThrow(Either.flip(fed([text(0, "a"), start(1, "image")]).assemble()))
    assert.deepInclude({ ...error }, { index: 1, blockType: "image" })
    assert.strictEqual(error.code, "MALFORMED_RESPONSE")
    assert.strictEqual(error.message, 'the model left block 1 of type "image" open; retry the request')
    const image: ContentBlock = { type: "image", attachment: { id: "i", mediaType: "image/png", bytes: 1 } }
    assert.deepStrictEqual(blocks([start(1, "image"), end(1, image)]), [image])
  })

  it("keeps of an interrupted stream what can be read: text and reasoning, in order, nothing blank", () => {
    const image: ContentBlock = { type: "image", attachment: { id: "i", mediaType: "image/png", bytes: 1 } }
    const assembler = fed([
      reasoning(0, "why"),
      text(1, " \n\t"),
      call(2, "c", "{}", "x"),
      end(3, { type: "text", text: "closed" }),
      end(4, { type: "text", text: "" }),
      start(5, "image"),
      end(6, image),
      start(7, "text"),
      text(8, "open")
    ])
    assert.deepStrictEqual(assembler.interrupted(), [
      { type: "reasoning", text: "why" },
      { type: "text", text: "closed" },
      { type: "text", text: "open" }
    ])
  })

  // ---------------------------------------------------------------------------

  interface Planned {
    readonly kind: "text" | "reasoning" | "call"
    readonly pieces: ReadonlyArray<string>
    readonly started: boolean
    readonly ended: boolean
  }

  const planned: fc.Arbitrary<Planned> = fc.record({
    kind: fc.constantFrom("text", "reasoning", "call"),
    pieces: fc.array(fc.string({ maxLength: 4 }), { minLength: 1, maxLength: 5 }),
    started: fc.boolean(),
    ended: fc.boolean()
  })

  const types = { text: "text", reasoning: "reasoning", call: "tool-call" } as const

  const delta = ({ kind }: Planned, index: number, piece: string, isFirst: boolean): StreamChunk => {
    if (kind === "call") return call(index, `id-${index}`, piece, isFirst ? `tool-${index}` : undefined)
    return kind === "text" ? text(index, piece) : reasoning(index, piece)
  }

  const whole = ({ kind, pieces }: Planned, index: number): ContentBlock =>
    kind === "call" ? toolCall(`id-${index}`, `tool-${index}`, pieces.join("")) : { type: kind, text: pieces.join("") }

  const chunksOf = (plan: Planned, index: number): ReadonlyArray<StreamChunk> => [
    ...(plan.started ? [start(index, types[plan.kind])] : []),
    ...plan.pieces.map((piece, i) => delta(plan, index, piece, i === 0)),
    ...(plan.ended ? [end(index, whole(plan, index))] : [])
  ]

  /** Merges the queues at random; queue n + 1 opens only after queue n did, so that the order of blocks stays. */
  const interleaved = (queues: ReadonlyArray<ReadonlyArray<StreamChunk>>, picks: ReadonlyArray<number>) => {
    const out: Array<StreamChunk> = []
    const at = queues.map(() => 0)
    let opened = 0
    for (let i = 0; ; i++) {
      const open = queues.flatMap((queue, n) => (n <= opened && at[n]! < queue.length ? [n] : []))
      if (open.length === 0) return out
      const n = open[(picks[i % picks.length] ?? 0) % open.length]!
      out.push(queues[n]![at[n]!]!)
      at[n]!++
      if (n === opened) opened++
    }
  }

  it.prop(
    "assembles the same blocks however the stream was cut and interleaved",
    [fc.array(planned, { maxLength: 5 }), fc.array(fc.nat(), { minLength: 1, maxLength: 12 })],
    ([plans, picks]) => {
      const queues = plans.map(chunksOf)
      assert.deepStrictEqual(blocks(interleaved(queues, picks)), plans.map(whole))
    }
  )
})
