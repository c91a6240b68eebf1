/**
 * Whether there is a key for the model, where, and whether it can be sent. What it is, nobody is told.
 */
import * as LlmDeepSeek from "@dsh/llm/LlmDeepSeek"
import * as Credentials from "@dsh/settings/Credentials"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Keys from "../Keys.ts"
import type { Check } from "./Finding.ts"
import * as Finding from "./Finding.ts"

const name = LlmDeepSeek.keyName

export const check: Check = () =>
  Effect.gen(function* () {
    const keys = yield* Effect.either(Keys.load)
    if (Either.isLeft(keys)) {
      return Finding.warn(`${name} was not looked for, because a .env file cannot be used`, "see env-files")
    }
    const found = yield* keys.right.credentials.resolve(name)
    if (Option.isNone(found)) {
      return Finding.fail(
        `${name} is not set`,
        `keep one with "dsh credentials set ${name}", or set it in the environment; "dsh demo" needs none`
      )
    }
    const { source, value } = found.value
    yield* Credentials.usable(name, value)
    const set = Finding.ok(`${name} is set in ${Keys.places[source]}`)
    // What wins over it hides what is wrong with the file, and other keys are only there.
    return yield* Effect.match(keys.right.credentials.list, {
      onFailure: (error) => Finding.all([set, Finding.because("warn", error)]),
      onSuccess: () => set
    })
  }).pipe(Effect.catchAll((error) => Effect.succeed(Finding.because("fail", error))))
