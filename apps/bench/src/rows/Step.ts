/**
 * What the harness adds to a step: from the end of a response to the next request, with a tool call that has no body in between.
 * Bare Node needs some of that time, too, and more of it on a slower machine, so its gap is measured in the same run and is no overhead.
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

type Gaps = ReadonlyArray<ReadonlyArray<number>>

/** The gaps of whole runs of `steps` steps, in turns. */
const gaps = (steps: number) =>
  Effect.gen(function* () {
    const server = yield* SseServer.steps(steps)
    const home = yield* Home.make
    const dsh = Subjects.dsh(["run", "count"], { DSH_HOME: home, DEEPSEEK_BASE_URL: server.url })
    const gapsOf = (subject: Processes.Subject) => Effect.map(Processes.once(subject), () => server.take())
    const all = { bare: [] as Array<ReadonlyArray<number>>, dsh: [] as Array<ReadonlyArray<number>> }
    for (let run = 0; run < runs; run++) {
      all.bare.push(yield* gapsOf(Subjects.bareSteps(server.url)))
      all.dsh.push(yield* gapsOf(dsh))
    }
    return all
  }).pipe(Effect.scoped)

/** The median of all the gaps around a step, of every run. */
const around = (runsOfGaps: Gaps, step: number, width: number): number =>
  Samples.of(runsOfGaps.flatMap((run) => run.slice(Math.max(0, step - width), step + width))).median

const millis = (value: number): string => `${value.toFixed(2)} ms`

export const stepEarly: Row = {
  what: "harness overhead per step, p50 at step 10",
  target: `≤ ${limitMillis} ms over bare Node`,
  measure: Effect.map(gaps(20), (all) => {
    const bare = around(all.bare, 10, 3)
    const dsh = around(all.dsh, 10, 3)
    return {
      floor: millis(bare),
      measured: `${millis(dsh)} (${millis(dsh - bare)} over)`,
      meetsTarget: dsh - bare <= limitMillis
    }
  })
}

export const stepLate: Row = {
  what: "harness overhead per step, p50 at step 1 000",
  target: `≤ ${growthLimit} × step 10`,
  measure: Effect.map(gaps(1020), ({ dsh }) => {
    const early = around(dsh, 10, 3)
    const late = around(dsh, 1000, 20)
    return {
      floor: millis(early),
      measured: millis(late),
      ratio: late / early,
      meetsTarget: late <= growthLimit * early
    }
  })
}
