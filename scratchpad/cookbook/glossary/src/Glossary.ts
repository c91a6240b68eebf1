/**
 * The glossary seam: what the words of a project mean. Where they are kept is up to the provider.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

export class GlossaryError extends Data.TaggedError("GlossaryError")<{
  readonly code: "GLOSSARY_UNKNOWN_WORD"
  readonly message: string
}> {}

export class Glossary extends Context.Tag("@dsh/glossary/Glossary")<
  Glossary,
  {
    /** Case does not matter. Fails with `GLOSSARY_UNKNOWN_WORD`. */
    readonly meaning: (word: string) => Effect.Effect<string, GlossaryError>
  }
>() {}
