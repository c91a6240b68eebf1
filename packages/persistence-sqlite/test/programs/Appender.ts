/**
 * A process that creates or resumes a session and appends to it until it is killed. What it prints is stored: the number of events after
 * each batch, a line each.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as PersistenceSqlite from "@dsh/persistence-sqlite/PersistenceSqlite"
import { SessionId } from "@dsh/protocol/Ids"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"

const [, , file = "", name = ""] = process.argv
const id = SessionId(name)

const program = Effect.gen(function* () {
  const sessions = yield* PersistenceSqlite.make({ file })
  yield* sessions.create({ version: 1, id, createdAt: 1 })
  const start: LogEntry = { type: "turn/start", seq: 0, time: 1, data: { turn: 1 } }
  yield* sessions.append(id, [start])
  for (let seq = 1; ; seq += 5) {
    const texts = ["a", "b", "c", "d", String(seq)]
    const run: LogEntry = { kind: "text-delta", turn: 1, step: 1, index: 0, seq, times: [1, 2, 3, 4, 5], texts }
    yield* sessions.append(id, [run])
    Fs.writeSync(1, `${seq + 5}\n`)
  }
})

void Effect.runPromise(Effect.scoped(Effect.provide(program, NodeContext.layer)))
