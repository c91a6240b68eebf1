import * as ChatRequest from "@dsh/testing/ChatRequest"
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

const request = (index: number, answers = 0): ChatRequest.ChatRequest =>
  ChatRequest.parse(
    { messages: Array.from({ length: answers }, () => ({ role: "assistant", content: "x" })) },
    { index, headers: {}, bytes: 0 }
  )

const play = (script: Script.Script, count: number) => {
  const run = Script.start(script)
  return Effect.forEach(Array.from({ length: count }), (_, i) => run.next(request(i)))
}

const [a, b] = [Reply.text("a"), Reply.text("b")]

describe("Script", () => {
  it.effect("a sequence ends, repeats its last step or begins again", () =>
    Effect.gen(function* () {
      const over = (yield* play(Script.sequence([a]), 2))[1]
      assert.strictEqual(over?._tag === "Http" && over.status, 500)
      assert.deepStrictEqual(yield* play(Script.sequence([a, b], "last"), 4), [a, b, b, b])
      assert.deepStrictEqual(yield* play(Script.sequence([a, b], "cycle"), 4), [a, b, a, b])
    })
  )

  it.effect("a seed repeats its draw, and weights decide how often", () =>
    Effect.gen(function* () {
      const script = Script.weighted(7, { success: 3, rate_limit: 1 })
      const draw = yield* play(script, 400)
      assert.deepStrictEqual(yield* play(script, 400), draw)
      assert.notDeepEqual(yield* play(Script.weighted(8, { success: 3, rate_limit: 1 }), 400), draw)
      const limited = draw.filter((reply) => reply._tag === "Behaviour" && reply.name === "rate_limit").length
      assert.isTrue(limited > 60 && limited < 140, `${limited} of 400`)
    })
  )

  it.effect("a conversation is led by the answers it holds, not by the order of arrival", () =>
    Effect.gen(function* () {
      const run = Script.start(Script.conversation([a, b]))
      assert.deepStrictEqual(yield* run.next(request(0, 1)), b)
      assert.deepStrictEqual(yield* run.next(request(1, 0)), a)
      assert.deepStrictEqual(yield* run.next(request(2, 9)), b)
    })
  )

  it.effect("a step may look at the request", () =>
    Effect.gen(function* () {
      const run = Script.start(Script.sequence([(r) => Reply.text(`request ${r.index}`)]))
      assert.deepStrictEqual(yield* run.next(request(4)), Reply.text("request 4"))
    })
  )
})
