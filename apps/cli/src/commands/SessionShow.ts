/**
 * `dsh session show ID`: what was said and done in a session.
 */
import * as Effect from "effect/Effect"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import { Output } from "../Output.ts"
import * as PriceTable from "../PriceTable.ts"
import * as Sessions from "../Sessions.ts"
import * as SubAgents from "../SubAgents.ts"
import * as Transcript from "../Transcript.ts"

/** @param id As typed; it may name nothing. */
export const run = (id: string): Command =>
  Effect.gen(function* () {
    const output = yield* Output
    const prices = yield* PriceTable.load
    const stored = yield* Sessions.load(id)
    const subAgents = yield* Sessions.withPersistence((persistence) =>
      Effect.flatMap(SubAgents.of(persistence, stored.header.id), Effect.forEach(persistence.load))
    )
    if (stored.tornBytes > 0) {
      output.notice(`the log ends in the middle of a record (${stored.tornBytes} bytes), which is left out`)
    }
    yield* output.print(Transcript.render(stored.header, stored.events, { prices, subAgents }))
    return ExitCode.completed
  })
