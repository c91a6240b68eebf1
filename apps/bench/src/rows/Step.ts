/**
 * What the harness adds to a step: from the end of a response to the next request, with a tool call that has no body in between.
 */
import * as Effect from "effect/Effect"
import * as Home from "../Home.ts"
import * as Processes from "../Processes.ts"
import type { Row } from "../Row.ts"
import * as Samples from "../Samples.ts"
import * as SseServer from "../SseServer.ts"
import * as Subjects from "../Subjects.ts"

const runs = 5
const limitMillis = 2
const growthLimit = 1.2

/** The gaps of whole runs of `steps` steps. */
const gaps = (steps: number) =>
  Effect.gen(function* () {
    const server = yield* SseServer.steps(steps)
    const home = yield* Home.make
    const dsh = Subjects.dsh(["run", "count"], { DSH_HOME: home, DEEPSEEK_BASE_URL: server.url })
    return yield* Effect.replicateEffect(
      Effect.map(Processes.once(dsh), () => server.take()),
      runs
    )
  }).pipe(Effect.scoped)

/** All the gaps around a step, of every run. */
const around = (runsOfGaps: ReadonlyArray<ReadonlyArray<number>>, step: number, width: number): Samples.Samples =>
  Samples.of(runsOfGaps.flatMap((run) => run.slice(Math.max(0, step - width), step + width)))

export const stepEarly: Row = {
  what: "harness overhead per step, p50 at step 10",
  target: `≤ ${limitMillis} ms`,
  measure: Effect.map(gaps(20), (all) => {
    const { median } = around(all, 10, 3)
    return { floor: "", measured: `${median.toFixed(2)} ms`, meetsTarget: median <= limitMillis }
  })
}

export const stepLate: Row = {
  what: "harness overhead per step, p50 at step 1 000",
  target: `≤ ${growthLimit} × step 10`,
  measure: Effect.map(gaps(1020), (all) => {
    const early = around(all, 10, 3).median
    const late = around(all, 1000, 20).median
    return {
      floor: `${early.toFixed(2)} ms`,
      measured: `${late.toFixed(2)} ms`,
      ratio: late / early,
      meetsTarget: late <= growthLimit * early
    }
  })
}
