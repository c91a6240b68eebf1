/**
 * A thousand tasks in one process, a hundred at a time: how many a second against bare Node with as many requests of the same kind, and
 * how much memory against one task alone.
 */
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Home from "../Home.ts"
import * as Processes from "../Processes.ts"
import type { Row } from "../Row.ts"
import * as SseServer from "../SseServer.ts"
import * as Subjects from "../Subjects.ts"

const tasks = 1000
const concurrency = 100
const memoryLimit = 5

const tasksOf = (folder: string, count: number): string => {
  const file = join(folder, `tasks-${count}.jsonl`)
  writeFileSync(file, Array.from({ length: count }, (_, i) => `{"task":"say ${i}"}\n`).join(""))
  return file
}

const batch = (count: number) =>
  Effect.gen(function* () {
    const server = yield* SseServer.make(1)
    const home = yield* Home.make
    const args = ["batch", tasksOf(home, count), "--concurrency", String(concurrency), "--out", join(home, "r.jsonl")]
    const subject = Subjects.dsh(args, { DEEPSEEK_BASE_URL: server.url, DSH_HOME: home })
    const bare = Subjects.bareRequests(server.url, count, concurrency)
    return { subject, bare }
  })

/** Without the time that a process takes to start. */
const rate = ({ wall }: Processes.Run, { wall: start }: Processes.Run): number =>
  tasks / (Math.max(1, wall - start) / 1000)

export const throughput: Row = {
  what: `batch of ${tasks} tasks, ${concurrency} at a time, tasks per second`,
  target: "(measured against bare fetch)",
  measure: Effect.gen(function* () {
    const [many, one] = [yield* batch(tasks), yield* batch(1)]
    const dsh = rate(yield* Processes.once(many.subject), yield* Processes.once(one.subject))
    const fetch = rate(yield* Processes.once(many.bare), yield* Processes.once(one.bare))
    return { floor: `${fetch.toFixed(0)}/s`, measured: `${dsh.toFixed(1)}/s`, ratio: dsh / fetch }
  }).pipe(Effect.scoped)
}

export const memory: Row = {
  what: `batch of ${tasks} tasks, ${concurrency} at a time, peak RSS`,
  target: `≤ ${memoryLimit} × a batch of one`,
  measure: Effect.gen(function* () {
    const peak = (count: number) =>
      Effect.flatMap(batch(count), ({ subject }) =>
        Effect.map(Processes.once(subject, { rss: true }), ({ peakRss }) => peakRss)
      )
    const [one, many] = [yield* peak(1), yield* peak(tasks)]
    return {
      floor: `${one.toFixed(1)} MiB`,
      measured: `${many.toFixed(1)} MiB`,
      ratio: many / one,
      meetsTarget: many <= memoryLimit * one
    }
  }).pipe(Effect.scoped)
}
