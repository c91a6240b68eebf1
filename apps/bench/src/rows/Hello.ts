/**
 * A one-shot hello: how soon the model is asked, and how much memory it takes.
 */
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Processes from "../Processes.ts"
import * as Row from "../Row.ts"
import * as SseServer from "../SseServer.ts"
import * as Subjects from "../Subjects.ts"

/** Sessions go to a folder of their own, which is removed afterwards. */
const home = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "dsh-bench-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const hello = Effect.gen(function* () {
  const server = yield* SseServer.make(1)
  const subject = Subjects.dsh(["run", "hello"], { DEEPSEEK_BASE_URL: server.url, DSH_HOME: yield* home })
  return { server, subject }
})

const requestLimit = 3

export const firstRequest: Row.Row = {
  what: "one-shot hello, spawn → first request at the server",
  target: `≤ ${requestLimit} × node -e 0`,
  measure: Effect.gen(function* () {
    const { server, subject } = yield* hello
    const { dsh, node } = yield* Processes.takeTurns(
      {
        node: Processes.wall(Subjects.bareNode),
        dsh: Effect.map(Processes.once(subject), ({ startedAt }) => server.lastRequestAt() - startedAt)
      },
      25
    )
    return Row.compare(node, dsh, "ms", requestLimit)
  }).pipe(Effect.scoped)
}

const memoryLimit = 2

export const memory: Row.Row = {
  what: "one-shot hello, peak RSS",
  target: `≤ ${memoryLimit} × bare fetch`,
  measure: Effect.gen(function* () {
    const { server, subject } = yield* hello
    const peak = (measured: Processes.Subject) =>
      Effect.map(Processes.once(measured, { rss: true }), ({ peakRss }) => peakRss)
    const { dsh, fetch } = yield* Processes.takeTurns(
      { fetch: peak(Subjects.bareFetch(server.url)), dsh: peak(subject) },
      5
    )
    return Row.compare(fetch, dsh, "MiB", memoryLimit)
  }).pipe(Effect.scoped)
}
