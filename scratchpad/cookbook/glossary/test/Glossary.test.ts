// The words that are there, and what a model is told of one that is not.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Glossary } from "../src/Glossary.ts"
import * as GlossaryMemory from "../src/GlossaryMemory.ts"

describe("a glossary in memory", () => {
  it.effect("knows its words in any case, and names them when it is asked for another", () =>
    Effect.gen(function* () {
      const { meaning } = yield* Glossary
      assert.strictEqual(yield* meaning("STEP"), "one model request with the tool calls it asks for")
      const error = yield* Effect.flip(meaning("leap"))
      assert.strictEqual(error.code, "GLOSSARY_UNKNOWN_WORD")
      assert.strictEqual(error.message, `"leap" is not in the glossary; it has step`)
    }).pipe(Effect.provide(GlossaryMemory.layer({ Step: "one model request with the tool calls it asks for" })))
  )
})
