import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck as fc } from "effect"
import * as Conversation from "../src/Conversation.ts"
import { CallId } from "../src/Ids.ts"
import { messageOf } from "../src/SessionEvent.ts"
import type { EventOf, SeqRange, SessionEvent, SurfaceOp, SurfaceType } from "../src/SessionEvent.ts"
import { answered, event, fold, header, makeLog, move, play, result, said } from "./support.ts"

const texts = (conversation: Conversation.Conversation) =>
  conversation.messages.map(({ content }) =>
    content.map((block) => ("text" in block ? block.text : block.type)).join("|")
  )

const refusal = (conversation: Conversation.Conversation, candidate: SessionEvent): string => {
  const error = Either.getOrThrow(Either.flip(conversation.check(candidate)))
  assert.strictEqual(error.code, "INVALID_SURFACE")
  assert.strictEqual(error.seq, candidate.seq)
  return error.reason
}

describe("Conversation", () => {
  describe("goes back", () => {
    const back = (log: ReturnType<typeof makeLog>, events: number) => log.add("session/rewound", { turn: 0, events })

    it("to what it was, and forth again", () => {
      const log = makeLog()
      log.say("one")
      log.say("two")
      log.say("three")
      back(log, 1)
      assert.deepStrictEqual(texts(fold(log.events)), ["one"])
      log.say("four")
      assert.deepStrictEqual(texts(fold(log.events)), ["one", "four"])
      back(log, 3)
      assert.deepStrictEqual(texts(fold(log.events)), ["one", "two", "three"])
      back(log, 5)
      assert.deepStrictEqual(texts(fold(log.events)), ["one", "four"])
      back(log, 0)
      assert.deepStrictEqual(texts(fold(log.events)), [])
    })

    it("behind a replacement, and to what it had replaced", () => {
      const log = makeLog()
      log.say("one")
      log.say("two")
      log.add("user/message", said("s", "both"), {
        surfaceOp: { op: "replace", start: 0, end: 1 },
        sourceEventSeqs: [[0, 1]]
      })
      log.say("three")
      back(log, 2)
      assert.deepStrictEqual(texts(fold(log.events)), ["one", "two"])
      back(log, 3)
      assert.deepStrictEqual(texts(fold(log.events)), ["both"])
      back(log, 4)
      assert.deepStrictEqual(texts(fold(log.events)), ["both", "three"])
    })

    it("so that whatever was computed from it is void", () => {
      const log = makeLog()
      log.say("one")
      back(log, 1)
      const conversation = fold(log.events)
      assert.strictEqual(conversation.generation, 1)
      assert.deepStrictEqual(
        conversation.nodes.map(({ seq }) => seq),
        [0]
      )
    })

    it("not to what is not there yet", () => {
      const log = makeLog()
      log.say("one")
      const conversation = fold(log.events)
      assert.match(
        refusal(conversation, event(1, "session/rewound", { turn: 0, events: 2 })),
        /first 2 events.*there are 1/
      )
      assert.isTrue(Either.isRight(conversation.check(event(1, "session/rewound", { turn: 0, events: 1 }))))
    })

    it("as it was at that moment, whatever the log says, by a fold of its beginning", () => {
      fc.assert(
        fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat()), { maxLength: 40 }), (moves) => {
          const log = makeLog()
          for (const [isBack, n] of moves) {
            if (isBack) back(log, n % (log.events.length + 1))
            else log.say(`${log.events.length}`)
          }
          const at = log.events.findLastIndex(({ type }) => type === "session/rewound")
          const last = log.events[at]
          if (last?.type !== "session/rewound") return
          const expected = [
            ...texts(fold(log.events.slice(0, last.data.events))),
            ...log.events.slice(at + 1).map(({ seq }) => `${seq}`)
          ]
          assert.deepStrictEqual(texts(fold(log.events)), expected)
        })
      )
    })
  })

  describe("derives", () => {
    it("user messages, answers and tool results in order, and nothing from anything else", () => {
      const log = makeLog()
      log.add("turn/start", { turn: 1 })
      log.say("hello")
      log.add("assistant/chunk", { turn: 1, step: 1, chunk: { type: "text-delta", index: 0, text: "hi" } })
      log.answer("hi", { type: "tool-call", id: CallId("c"), name: "read", arguments: "{}" })
      log.add("tool/call", { turn: 1, step: 1, callId: CallId("c"), name: "read", arguments: "{}" })
      log.result("c", "content")
      log.add("turn/end", { turn: 1, reason: { kind: "completed" } })
      const conversation = fold(log.events)
      assert.deepStrictEqual(texts(conversation), ["hello", "hi|tool-call", "tool-result"])
      assert.deepStrictEqual(
        conversation.nodes.map(({ seq }) => seq),
        [1, 3, 5]
      )
    })

    it("the logged message itself, not a copy", () => {
      const log = makeLog()
      const { data } = log.say("hello")
      assert.strictEqual(fold(log.events).messages[0], data)
    })

    it("nothing from an answer without content, which stays a node", () => {
      const log = makeLog()
      log.answer()
      log.say("hello")
      const conversation = fold(log.events)
      assert.deepStrictEqual(texts(conversation), ["hello"])
      assert.strictEqual(conversation.nodes.length, 2)
    })

    it("an interrupted prefix like any other answer", () => {
      const log = makeLog()
      log.add("assistant/message", { turn: 1, step: 1, message: answered("a", "half"), interrupted: true })
      assert.deepStrictEqual(texts(fold(log.events)), ["half"])
    })

    it("the last header, canonical and the same object until the next, and the last context", () => {
      const log = makeLog()
      const empty = fold(log.events)
      assert.isUndefined(empty.header)
      assert.isUndefined(empty.context)
      log.add("request/header", { header: header({ system: "", tools: [] }), reason: "initial" })
      log.add("request/context", { provider: "p", model: "m" })
      const conversation = fold(log.events)
      const first = conversation.header
      assert.deepStrictEqual(first, header())
      conversation.apply(log.say("hello"))
      assert.strictEqual(conversation.header, first)
      conversation.apply(log.head({ system: "be brief" }))
      conversation.apply(log.add("request/context", { provider: "p", model: "m", contextWindow: 5 }))
      assert.deepStrictEqual(conversation.header, header({ system: "be brief" }))
      assert.deepStrictEqual(conversation.context, { provider: "p", model: "m", contextWindow: 5 })
      assert.strictEqual(conversation.generation, 0)
    })
  })

  describe("replaces", () => {
    const log = makeLog()
    for (const text of ["a", "b", "c", "d"]) log.say(text)

    it("a range by one node, in its place", () => {
      const conversation = fold([...log.events, event(4, "user/message", said("s", "b+c"), replacing(1, 2))])
      assert.deepStrictEqual(texts(conversation), ["a", "b+c", "d"])
      assert.strictEqual(conversation.generation, 1)
    })

    it("what was replaced before, by its new seq", () => {
      const first = event(4, "user/message", said("s", "b+c"), replacing(1, 2))
      const second = event(5, "user/message", said("t", "all"), {
        surfaceOp: { op: "replace", start: 0, end: 3 },
        sourceEventSeqs: [0, 3, 4]
      })
      const conversation = fold([...log.events, first, second])
      assert.deepStrictEqual(texts(conversation), ["all"])
      assert.strictEqual(conversation.generation, 2)
      assert.strictEqual(
        refusal(conversation, event(6, "user/message", said("u", "x"), replacing(1, 4))),
        "it replaces 1..4, which are not both current surface events"
      )
    })

    it("and gives arrays that were handed out before to whoever holds them", () => {
      const conversation = fold(log.events)
      const { messages, nodes } = conversation
      conversation.apply(event(4, "user/message", said("s", "x"), replacing(0, 3)))
      assert.strictEqual(messages.length, 4)
      assert.strictEqual(nodes.length, 4)
      assert.strictEqual(conversation.messages.length, 1)
    })

    it("the content of a tool result, and nothing else of it", () => {
      const logged = makeLog()
      logged.say("go")
      logged.add("tool/result", { turn: 1, step: 1, message: result("r", "c", "long") })
      logged.add("tool/result", { turn: 1, step: 1, message: result("q", "d", "other") })
      const conversation = fold(logged.events)
      const rewrite = (message: ReturnType<typeof result>, start = 1, end = start) =>
        event(3, "tool/result", { turn: 1, step: 1, message }, replacing(start, end))
      const unchanged = "a replaced tool result may change nothing but its content"
      assert.strictEqual(refusal(conversation, rewrite(result("other", "c", "short"))), unchanged)
      assert.strictEqual(refusal(conversation, rewrite(result("r", "other", "short"))), unchanged)
      assert.strictEqual(refusal(conversation, rewrite(result("r", "c", "short", true))), unchanged)
      const elsewhere = { ...result("r", "c", "short"), source: { kind: "tool", callId: CallId("x") } } as const
      assert.strictEqual(refusal(conversation, rewrite(elsewhere)), unchanged)
      const single = "a tool result can only replace one tool result"
      assert.strictEqual(refusal(conversation, rewrite(result("r", "c", "short"), 1, 2)), single)
      assert.strictEqual(refusal(conversation, rewrite(result("r", "c", "short"), 0)), single)
      conversation.apply(rewrite(result("r", "c", "short")))
      assert.deepStrictEqual(conversation.messages[1], result("r", "c", "short"))
    })
  })

  describe("refuses", () => {
    const log = makeLog()
    for (const text of ["a", "b", "c"]) log.say(text)
    log.add("step/start", { turn: 1, step: 1 })
    const conversation = fold(log.events)
    const candidate = (placing: {
      readonly surfaceOp?: SurfaceOp
      readonly sourceEventSeqs?: ReadonlyArray<SeqRange>
    }) => event(4, "user/message", said("s", "s"), placing)

    it("a surface event that does not say where it stands", () => {
      const { surfaceOp: _, ...bare } = candidate({})
      assert.strictEqual(refusal(conversation, bare), "it has no surfaceOp")
    })

    it("placing on any other event", () => {
      const step = { turn: 1, step: 1 }
      const reason = "step/end is not a surface event and carries surfaceOp or sourceEventSeqs"
      assert.strictEqual(refusal(conversation, event(4, "step/end", step, { surfaceOp: "append" })), reason)
      assert.strictEqual(refusal(conversation, event(4, "step/end", step, { sourceEventSeqs: [0] })), reason)
    })

    it("ranges that are not there, or backwards", () => {
      const outside = (start: number, end: number) =>
        `it replaces ${start}..${end}, which are not both current surface events`
      assert.strictEqual(refusal(conversation, candidate(replacing(0, 3))), outside(0, 3))
      assert.strictEqual(refusal(conversation, candidate(replacing(-1, 0))), outside(-1, 0))
      assert.strictEqual(refusal(conversation, candidate(replacing(2, 1))), "it replaces 2..1, which is backwards")
    })

    it("a replacement with other members", () => {
      const op = { op: "replace", start: 0, end: 0, also: 1 } as const
      assert.strictEqual(
        refusal(conversation, candidate({ surfaceOp: op, sourceEventSeqs: [0] })),
        "its surfaceOp is malformed"
      )
    })

    it("a replacement that does not cite all it shadows; it may cite more", () => {
      const surfaceOp = { op: "replace", start: 1, end: 2 } as const
      const missing = "it does not cite every event it replaces"
      assert.strictEqual(refusal(conversation, candidate({ surfaceOp })), missing)
      assert.strictEqual(refusal(conversation, candidate({ surfaceOp, sourceEventSeqs: [1] })), missing)
      assert.strictEqual(refusal(conversation, candidate({ surfaceOp, sourceEventSeqs: [0, 2] })), missing)
      assert.isTrue(Either.isRight(conversation.check(candidate({ surfaceOp, sourceEventSeqs: [0, [1, 3]] }))))
    })

    it("sources that are later, repeated, disordered or malformed", () => {
      const because = (...sourceEventSeqs: ReadonlyArray<SeqRange>) =>
        refusal(conversation, candidate({ sourceEventSeqs }))
      assert.strictEqual(because(4), "sourceEventSeqs names an event that is not earlier")
      assert.strictEqual(because([0, 4]), "sourceEventSeqs names an event that is not earlier")
      assert.strictEqual(because(1, 1), "sourceEventSeqs is not ascending or has duplicates")
      assert.strictEqual(because(2, 1), "sourceEventSeqs is not ascending or has duplicates")
      assert.strictEqual(because([0, 2], 2), "sourceEventSeqs is not ascending or has duplicates")
      assert.strictEqual(because(-1), "sourceEventSeqs is not ascending or has duplicates")
      assert.strictEqual(because([2, 1]), "sourceEventSeqs is malformed")
      assert.strictEqual(because(0.5), "sourceEventSeqs is malformed")
      assert.strictEqual(because([0, Number.NaN]), "sourceEventSeqs is malformed")
    })

    it("no sources at all, except for an answer", () => {
      assert.strictEqual(refusal(conversation, candidate({ sourceEventSeqs: [] })), "sourceEventSeqs is empty")
      const answer = { turn: 1, step: 1, message: answered("a", "x") }
      assert.isTrue(Either.isRight(conversation.check(event(4, "assistant/message", answer, { sourceEventSeqs: [] }))))
    })

    it("without changing anything, and in words that name the event", () => {
      const before = JSON.stringify([conversation.messages, conversation.nodes, conversation.generation])
      const error = Either.getOrThrow(Either.flip(conversation.check(candidate(replacing(2, 1)))))
      assert.strictEqual(
        error.message,
        "event 4 cannot take its place in the conversation: it replaces 2..1, which is backwards"
      )
      assert.strictEqual(JSON.stringify([conversation.messages, conversation.nodes, conversation.generation]), before)
    })
  })

  it.prop("folding event by event equals folding from the start, and a plain list", [fc.array(move)], ([moves]) => {
    const log = makeLog()
    const conversation = Conversation.empty()
    let plain: ReadonlyArray<EventOf<SurfaceType>> = []
    for (const made of moves) {
      const from = log.events.length
      play(log, conversation.nodes, made)
      for (const each of log.events.slice(from)) {
        Either.getOrThrow(conversation.check(each))
        conversation.apply(each)
        plain = after(plain, each)
      }
      assert.deepStrictEqual(conversation.nodes, plain)
      assert.deepStrictEqual(
        conversation.messages,
        plain.flatMap((node) => messageOf(node) ?? [])
      )
    }
    const rebuilt = fold(log.events)
    assert.deepStrictEqual({ ...rebuilt }, { ...conversation })
  })
})

function replacing(start: number, end: number) {
  return {
    surfaceOp: { op: "replace", start, end } as const,
    sourceEventSeqs: [[Math.max(0, Math.min(start, end)), Math.max(start, end)]] as ReadonlyArray<SeqRange>
  }
}

/** The surface rules on a list that is copied every time. */
function after(nodes: ReadonlyArray<EventOf<SurfaceType>>, added: SessionEvent): ReadonlyArray<EventOf<SurfaceType>> {
  if (added.type !== "user/message" && added.type !== "assistant/message" && added.type !== "tool/result") return nodes
  const op = added.surfaceOp
  if (op === undefined || op === "append") return [...nodes, added]
  const start = nodes.findIndex(({ seq }) => seq === op.start)
  const end = nodes.findIndex(({ seq }) => seq === op.end)
  return nodes.toSpliced(start, end - start + 1, added)
}
