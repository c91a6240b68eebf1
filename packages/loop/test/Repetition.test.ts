// A model that is caught in its own words.
import * as LlmRepetition from "@dsh/llm/LlmRepetition"
import * as LlmRetry from "@dsh/llm/LlmRetry"
import * as RetryPolicy from "@dsh/llm/RetryPolicy"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ask, make, ofType, turnErrors, world } from "./support.ts"

const { Reply } = LlmScripted

/** Text without rhythm: the digits of a multiplicative sequence. */
const prose = (length: number, seed = 1): string => {
  let text = ""
  for (let n = seed; text.length < length; n = (n * 48271) % 2147483647) text += `${n.toString(36)} `
  return text.slice(0, length)
}

const block = prose(200)

/** A text in small pieces, as models send it, that never ends by itself. */
const endless = (type: "text-delta" | "reasoning-delta", text: string): LlmScripted.Reply.Reply =>
  Reply.hang(pieces(type, text))

const pieces = (type: "text-delta" | "reasoning-delta", text: string): ReadonlyArray<StreamChunk> =>
  (text.match(/[^]{1,7}/g) ?? []).map((piece): StreamChunk => ({ type, index: 0, text: piece }))

const said = (text: string) =>
  Reply.chunks([...pieces("text-delta", text), { type: "finish", reason: { kind: "stop" } }])

const outcome = (script: ReadonlyArray<LlmScripted.Reply.Reply>, extra: Layer.Layer<never> = Layer.empty) =>
  Effect.gen(function* () {
    const agent = yield* make()
    yield* ask(agent, "go")
    return { errors: turnErrors(agent.session), requests: ofType(agent.session, "request/sent").length }
  }).pipe(Effect.scoped, Effect.provide(world(script, Layer.merge(LlmRepetition.layer, extra))))

describe("an answer that repeats itself", () => {
  it.effect("is ended and asked for once more; when that goes the same way the turn ends", () =>
    Effect.gen(function* () {
      const reasoning = endless("reasoning-delta", prose(3000) + block.repeat(80))
      assert.deepStrictEqual(yield* outcome([reasoning, Reply.text("ok")]), { errors: [], requests: 2 })
      assert.deepStrictEqual(yield* outcome([reasoning, endless("text-delta", "no ".repeat(10_000))]), {
        errors: ["REPETITION_LOOP"],
        requests: 2
      })
    })
  )

  it.effect("is not asked for again and again by a policy that never gives up", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* ask(agent, "go")
      assert.deepStrictEqual(turnErrors(agent.session), ["REPETITION_LOOP"])
    }).pipe(
      Effect.scoped,
      Effect.provide(
        world(
          [endless("text-delta", block.repeat(80)), endless("text-delta", block.repeat(80))],
          Layer.merge(LlmRepetition.layer, LlmRetry.layerPolicy({ ...RetryPolicy.normal, mode: "always" }))
        )
      )
    )
  )

  it.effect("is one with fifty times the same 200 characters, also at its very end, and not with less", () =>
    Effect.gen(function* () {
      const loops = { errors: ["REPETITION_LOOP"], requests: 2 }
      const fine = { errors: [], requests: 1 }
      const both = (text: string) => outcome([said(text), said(text)])
      assert.deepStrictEqual(yield* both(prose(500, 7) + block.repeat(50)), loops)
      assert.deepStrictEqual(yield* both(prose(500, 7) + block.repeat(48)), fine)
      // A paragraph, whose end occurs in its middle as well: the last look is the first that sees enough of it.
      const end = prose(100, 3)
      const paragraph = `${prose(700, 5)}${end}${prose(600, 9)}${end}`
      assert.deepStrictEqual(yield* both(paragraph.repeat(27)), loops)
      assert.deepStrictEqual(yield* both(paragraph.repeat(10)), fine)
      assert.deepStrictEqual(yield* both(prose(200_000)), fine)
      // A table of lines that are alike.
      const table = Array.from({ length: 600 }, (_, i) => `| item ${i} | ${"-".repeat(60)} | yes |\n`).join("")
      assert.deepStrictEqual(yield* both(table), fine)
    })
  )

  it.effect("may hand a tool as many equal lines as it likes", () =>
    Effect.gen(function* () {
      const file = { name: "echo", arguments: { text: block.repeat(100) } }
      assert.deepStrictEqual(yield* outcome([Reply.calls([file]), Reply.text("ok")]), { errors: [], requests: 2 })
    })
  )
})
