/**
 * The floors themselves: bare Node, by which everything else is divided.
 */
import * as Effect from "effect/Effect"
import * as Processes from "../Processes.ts"
import type { Row } from "../Row.ts"
import * as Samples from "../Samples.ts"
import * as SseServer from "../SseServer.ts"
import * as Subjects from "../Subjects.ts"

const node: Row = {
  what: "floor: node -e 0, wall",
  target: "",
  measure: Effect.map(Processes.takeTurns({ node: Processes.wall(Subjects.bareNode) }, 25), ({ node }) => ({
    floor: Samples.format(node, "ms"),
    measured: ""
  }))
}

const firstRequest: Row = {
  what: "floor: bare fetch, spawn → first request at the server",
  target: "",
  measure: Effect.gen(function* () {
    const server = yield* SseServer.make(1)
    const run = Processes.once(Subjects.bareFetch(server.url))
    const { fetch } = yield* Processes.takeTurns(
      { fetch: Effect.map(run, ({ startedAt }) => server.lastRequestAt() - startedAt) },
      15
    )
    return { floor: Samples.format(fetch, "ms"), measured: "" }
  }).pipe(Effect.scoped)
}

const stream: Row = {
  what: "floor: bare fetch + SSE loop, 200 000 deltas, wall",
  target: "",
  measure: Effect.gen(function* () {
    const server = yield* SseServer.make(200_000)
    const { fetch } = yield* Processes.takeTurns({ fetch: Processes.wall(Subjects.bareFetch(server.url)) }, 5)
    return { floor: Samples.format(fetch, "ms"), measured: "" }
  }).pipe(Effect.scoped)
}

const memory: Row = {
  what: "floor: bare fetch, peak RSS",
  target: "",
  measure: Effect.gen(function* () {
    const server = yield* SseServer.make(1)
    const run = Processes.once(Subjects.bareFetch(server.url), { rss: true })
    const { fetch } = yield* Processes.takeTurns({ fetch: Effect.map(run, ({ peakRss }) => peakRss) }, 5)
    return { floor: Samples.format(fetch, "MiB"), measured: "" }
  }).pipe(Effect.scoped)
}

export const floors: ReadonlyArray<Row> = [node, firstRequest, stream, memory]
