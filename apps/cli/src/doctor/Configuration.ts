/**
 * Whether a run with the profile could be made of what its bundles, the user's patches and the environment say.
 */
import * as Effect from "effect/Effect"
import * as Environment from "../Environment.ts"
import type { Check } from "./Finding.ts"
import * as Finding from "./Finding.ts"

/** Variables that a run refuses to start with, whatever it is made of. */
const variables = Effect.all([
  Environment.maxRetries,
  Environment.maxRepeats,
  Environment.cassette,
  Environment.toolsMode
])

export const check: Check = ({ prepared, profile }) =>
  Effect.gen(function* () {
    yield* variables
    const { composed } = yield* prepared
    const { graph, stacked } = composed
    const [first, ...others] = stacked.notices.map((message) => Finding.because("warn", { message }))
    return first === undefined
      ? Finding.ok(`the profile ${profile} composes: ${graph.nodes.length} rows are switched on`)
      : Finding.all([first, ...others])
  }).pipe(Effect.catchAll((error) => Effect.succeed(Finding.because("fail", error))))
