/**
 * Which of the registered providers is used.
 */
import * as Effect from "effect/Effect"
import { WebError } from "./WebError.ts"
import type { Code } from "./WebError.ts"

interface Candidate {
  readonly id: string
  readonly available: Effect.Effect<boolean>
  readonly isLastResort?: boolean
}

interface Wish {
  /** What for, in messages. */
  readonly what: string
  /** The setting that chooses, in messages. */
  readonly option: string
  readonly configured: string | undefined
}

const failed = (code: Code, message: string) => Effect.fail(new WebError({ code, message }))

const names = (candidates: ReadonlyArray<Candidate>): string =>
  candidates
    .map(({ id }) => id)
    .sort()
    .join(", ")

export const choose = <A extends Candidate>(
  entries: ReadonlyArray<readonly [string, A]>,
  { configured, option, what }: Wish
): Effect.Effect<A, WebError> =>
  Effect.gen(function* () {
    const all = entries.map(([, candidate]) => candidate)
    const known = all.length === 0 ? "there is none" : `there are: ${names(all)}`
    if (configured !== undefined) {
      const found = all.find(({ id }) => id === configured)
      if (found === undefined) {
        const message = `no ${what} provider is called ${configured}; ${known}. Set ${option} to one of them, or unset it`
        return yield* failed("WEB_PROVIDER_CONFIGURED_MISSING", message)
      }
      if (yield* found.available) return found
      return yield* failed(
        "WEB_PROVIDER_CONFIGURED_UNAVAILABLE",
        `the ${what} provider ${configured} cannot be used: it lacks its key or another setting. Set that, or set ${option} to another one`
      )
    }
    const usable = yield* Effect.filter(all, ({ available }) => available)
    const ordinary = usable.filter(({ isLastResort }) => isLastResort !== true)
    const [first, second] = ordinary.length > 0 ? ordinary : usable
    if (first === undefined) {
      const message = `no ${what} provider can be used (${known}); set the key of one, or go on without the web`
      return yield* failed("WEB_PROVIDER_UNAVAILABLE", message)
    }
    if (second === undefined) return first
    return yield* failed(
      "WEB_PROVIDER_AMBIGUOUS",
      `several ${what} providers can be used: ${names(ordinary.length > 0 ? ordinary : usable)}. Set ${option} to one of them`
    )
  })
