/**
 * `Glossary` over a list that the program has: for tests, and for projects with a handful of words.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Glossary, GlossaryError } from "./Glossary.ts"

export const make = (words: Readonly<Record<string, string>>): Glossary["Type"] => {
  const known = new Map(Object.entries(words).map(([word, meaning]) => [word.toLowerCase(), meaning]))
  return Glossary.of({
    meaning: (word) =>
      Effect.suspend(() => {
        const found = known.get(word.toLowerCase())
        if (found !== undefined) return Effect.succeed(found)
        const message = `"${word}" is not in the glossary; it has ${[...known.keys()].join(", ")}`
        return new GlossaryError({ code: "GLOSSARY_UNKNOWN_WORD", message })
      })
  })
}

export const layer = (words: Readonly<Record<string, string>>): Layer.Layer<Glossary> =>
  Layer.sync(Glossary, () => make(words))
