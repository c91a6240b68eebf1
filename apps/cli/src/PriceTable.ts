/**
 * The prices that the user keeps in the settings.
 */
import type { PriceTable } from "@dsh/protocol/Prices"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Failure from "./Failure.ts"
import * as HomeFolder from "./HomeFolder.ts"

const none: PriceTable = new Map()

/** Empty when there are none. Fails with exit code 3. */
export const load: Effect.Effect<PriceTable, Failure.Failure> = Effect.gen(function* () {
  const folder = yield* HomeFolder.withSettings
  if (folder === undefined) return none
  const { read } = yield* Effect.promise(() => import("./PriceTable/FromSettings.ts"))
  return yield* Effect.map(
    Effect.mapError(read(folder), ({ code, message }) => Failure.configuration(code, message)),
    Option.getOrElse(() => none)
  )
})
