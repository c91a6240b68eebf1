/**
 * A very long answer, through adapter, assembler, log, disk and stdout.
 */
import * as Effect from "effect/Effect"
import * as Home from "../Home.ts"
import * as Processes from "../Processes.ts"
import * as Row from "../Row.ts"
import type * as Samples from "../Samples.ts"
import * as SseServer from "../SseServer.ts"
import * as Subjects from "../Subjects.ts"

const deltas = 200_000
const rounds = 7

type Figure = (run: Processes.Run) => number

const measure = (figure: Figure, rss: boolean) =>
  Effect.gen(function* () {
    const server = yield* SseServer.make(deltas)
    const home = yield* Home.make
    const dsh = Subjects.dsh(["run", "talk"], { DSH_HOME: home, DEEPSEEK_BASE_URL: server.url })
    const of = (subject: Processes.Subject) => Effect.map(Processes.once(subject, { rss }), figure)
    return yield* Processes.takeTurns({ fetch: of(Subjects.bareFetch(server.url)), dsh: of(dsh) }, rounds)
  }).pipe(Effect.scoped)

const row = (what: string, limit: number, unit: string, figure: Figure, rss: boolean): Row.Row => ({
  what: `200 000 text deltas, ${what}`,
  target: `≤ ${limit} × bare fetch + SSE loop`,
  measure: Effect.map(
    measure(figure, rss),
    (taken: { readonly fetch: Samples.Samples; readonly dsh: Samples.Samples }) =>
      Row.compare(taken.fetch, taken.dsh, unit, limit)
  )
})

export const stream: Row.Row = row("wall", 1.6, "ms", ({ wall }) => wall, false)
export const streamMemory: Row.Row = row("peak RSS", 1.5, "MiB", ({ peakRss }) => peakRss, true)
