import { assert, describe, it } from "@effect/vitest"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as PersistenceCoordinator from "@dsh/persistence/PersistenceCoordinator"
import { MessageId, SessionId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import { Effect, Either } from "effect"
import * as Backend from "../src/PersistenceSqlite/Backend.ts"
import * as Connection from "../src/PersistenceSqlite/Connection.ts"
import * as Database from "../src/PersistenceSqlite/Database.ts"

const database = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "dsh-sqlite-" })
  return yield* Database.make(fs, path, `${folder}/sessions.db`)
}).pipe(Effect.provide(NodeContext.layer))

describe("a transaction", () => {
  it.scopedLive("syncs when it is asked to, and only then", () =>
    Effect.gen(function* () {
      const { use } = yield* database
      yield* use("write to", ({ sql, transaction }) =>
        Effect.gen(function* () {
          // Two spellings, for what is prepared once keeps its answer.
          const relaxed = yield* transaction({ sync: false }, sql`PRAGMA synchronous`)
          const synced = yield* transaction({ sync: true }, sql`pragma synchronous`)
          assert.strictEqual(relaxed[0]?.["synchronous"], 1)
          assert.strictEqual(synced[0]?.["synchronous"], 2)
        })
      )
    })
  )

  it.scopedLive("is as good as never begun when its body fails, or SQLite gives up on it by itself", () =>
    Effect.gen(function* () {
      const { use } = yield* database
      yield* use("write to", ({ sql, transaction }) =>
        Effect.gen(function* () {
          const insert = sql`INSERT INTO sessions VALUES ('a', '', 0, 0, 0)`
          const failures: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
            Effect.fail("no"),
            sql`INSERT INTO nowhere VALUES (1)`,
            sql`ROLLBACK`
          ]
          for (const failure of failures) {
            const body = Effect.flatMap(insert, () => failure)
            const outcome = yield* Effect.either(transaction({ sync: false }, body))
            assert.isTrue(Either.isLeft(outcome))
            assert.deepStrictEqual(yield* sql`SELECT id FROM sessions`, [])
          }
          yield* transaction({ sync: false }, insert)
          assert.strictEqual((yield* sql`SELECT id FROM sessions`).length, 1)
        })
      )
    })
  )

  it.scopedLive("of another connection has to wait until this one is through, however long it takes", () =>
    Effect.gen(function* () {
      const { file, use } = yield* database
      const other = yield* Effect.zipRight(
        use("open", () => Effect.void),
        Connection.open(file)
      )
      yield* use("write to", (one) =>
        Effect.gen(function* () {
          // Thousands of operations: a fiber would let others run in between.
          const busy = Effect.forEach(Array.from({ length: 10_000 }), () => Effect.void, { discard: true })
          const write = ({ sql, transaction }: Connection.Connection, id: string) =>
            transaction(
              { sync: false },
              sql`INSERT INTO sessions VALUES (${id}, '', 0, 0, 0)`.pipe(Effect.zipLeft(busy))
            )
          yield* Effect.all([write(one, "a"), write(other, "b"), write(one, "c"), write(other, "d")], {
            concurrency: "unbounded"
          })
          assert.strictEqual((yield* one.sql`SELECT id FROM sessions`).length, 4)
        })
      )
    })
  )
})

const id = SessionId("s-1")
const event = (seq: number, text: string): SessionEvent => ({
  type: "user/message",
  seq,
  time: 1,
  data: Message.user(MessageId("m"), text),
  surfaceOp: "append"
})

describe("a disk that is full", () => {
  it.scopedLive("costs the batch, not the session, and the batch can be stored again", () =>
    Effect.gen(function* () {
      const storage = yield* database
      const limit = (pages: number) =>
        storage.use("open", ({ run }) => Effect.asVoid(run(`PRAGMA max_page_count = ${pages}`)))
      const sessions = yield* PersistenceCoordinator.make(Backend.make(storage, yield* FileSystem.FileSystem))
      yield* sessions.create({ version: 1, id, createdAt: 1 })
      yield* sessions.append(id, [event(0, "small")])
      yield* limit(1)
      const large = [event(1, "little"), event(2, "x".repeat(100_000))]
      const error = yield* Effect.flip(sessions.append(id, large))
      assert.strictEqual(error.code, "STORAGE_FAILED")
      assert.include(error.message, "full; free some space")
      assert.strictEqual((yield* sessions.load(id)).length, 1)
      yield* limit(1_000_000)
      yield* sessions.append(id, large)
      assert.strictEqual((yield* sessions.load(id)).length, 3)
    }).pipe(Effect.provide(NodeContext.layer))
  )
})

describe("flush", () => {
  it.scopedLive("writes what was not synced, for a commit that writes nothing syncs nothing", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const storage = yield* database
      const sessions = yield* PersistenceCoordinator.make(Backend.make(storage, fs))
      yield* sessions.create({ version: 1, id, createdAt: 1 })
      yield* sessions.append(id, [event(0, "small")])
      const size = Effect.map(fs.stat(`${storage.file}-wal`), (info) => Number(info.size))
      const before = yield* size
      const synced = storage.use("read", ({ sql }) => sql`SELECT length, synced FROM sessions`)
      assert.deepEqual({ ...(yield* synced)[0] }, { length: 1, synced: 0 })
      yield* sessions.flush(id)
      assert.deepEqual({ ...(yield* synced)[0] }, { length: 1, synced: 1 })
      const after = yield* size
      assert.isAbove(after, before)
      yield* sessions.flush(id)
      assert.strictEqual(yield* size, after)
    }).pipe(Effect.provide(NodeContext.layer))
  )
})
