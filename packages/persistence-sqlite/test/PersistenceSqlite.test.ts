import { assert, describe, it } from "@effect/vitest"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as PersistenceSqlite from "@dsh/persistence-sqlite/PersistenceSqlite"
import * as JsonlCodec from "@dsh/persistence/JsonlCodec"
import { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import type { ChunkRun } from "@dsh/protocol/ChunkRun"
import { MessageId, SessionId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import { Effect, Either } from "effect"
import { spawnSync } from "node:child_process"
import { hostname } from "node:os"
import { Place, elsewhere, inPlace } from "./support/Place.ts"

const id = SessionId("s-1")
const header = (name = id): SessionHeader => ({ version: 1, id: name, createdAt: 1_700_000_000_000, cwd: "/home/ada" })

/** Four events, the last of them at `time`. */
const turn = (seq: number, time: number): ReadonlyArray<SessionEvent> => [
  { type: "turn/start", seq, time, data: { turn: 1 } },
  {
    type: "user/message",
    seq: seq + 1,
    time,
    data: Message.user(MessageId(`m-${seq}`), 'hé "type":"turn/end"'),
    surfaceOp: "append"
  },
  { type: "step/start", seq: seq + 2, time, data: { turn: 1, step: 1 } },
  { type: "turn/end", seq: seq + 3, time, data: { turn: 1, reason: { kind: "completed" } } }
]

const store = (name = id, time = 10) =>
  Effect.gen(function* () {
    const sessions = yield* SessionPersistence
    yield* Effect.scoped(
      Effect.zipRight(
        sessions.create(header(name)),
        Effect.suspend(() => sessions.append(name, turn(0, time)))
      )
    )
  })

const load = (name = id) => Effect.flatMap(SessionPersistence, (sessions) => sessions.load(name))
const resume = Effect.flatMap(SessionPersistence, (sessions) => Effect.scoped(sessions.resume(id)))

describe("the file", () => {
  it.live("comes into being with the first session, and is private", () =>
    inPlace(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { file, folder } = yield* Place
        const sessions = yield* SessionPersistence
        assert.deepStrictEqual(yield* sessions.list, { sessions: [], warnings: [] })
        assert.strictEqual((yield* Effect.flip(load())).code, "SESSION_NOT_FOUND")
        assert.strictEqual((yield* Effect.flip(resume)).code, "SESSION_NOT_FOUND")
        assert.strictEqual(yield* sessions.locate(id), undefined)
        yield* Effect.scoped(sessions.create(header()))
        assert.deepStrictEqual(yield* fs.readDirectory(folder), [])
        yield* store()
        assert.strictEqual(yield* sessions.locate(id), undefined)
        const mode = (path: string) => Effect.map(fs.stat(path), (info) => info.mode & 0o777)
        assert.strictEqual(yield* mode(`${folder}/home`), 0o700)
        for (const suffix of ["", "-wal", "-shm"]) assert.strictEqual(yield* mode(`${file}${suffix}`), 0o600)
      })
    )
  )

  it.live("holds the lines of a JSONL log, and shows their members as columns", () =>
    inPlace(
      Effect.gen(function* () {
        yield* store()
        const rows = yield* elsewhere(({ run }) => run("SELECT record FROM events ORDER BY seq"))
        assert.strictEqual(rows.map(({ record }) => `${record}\n`).join(""), JsonlCodec.encode(turn(0, 10)))
        const log = yield* elsewhere(({ run }) => run("SELECT type, seq, time, data FROM log WHERE seq = 2"))
        assert.deepEqual(
          log.map((row) => ({ ...row })),
          [{ type: "step/start", seq: 2, time: 10, data: '{"turn":1,"step":1}' }]
        )
      })
    )
  )

  it.live("is refused and left alone when it is not a database of ours", () =>
    inPlace(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { file } = yield* Place
        yield* fs.makeDirectory(file.slice(0, file.lastIndexOf("/")))
        const refusal = Effect.gen(function* () {
          const before = yield* fs.readFile(file)
          const error = yield* Effect.flip(store())
          assert.strictEqual((yield* Effect.flip((yield* SessionPersistence).list)).message, error.message)
          assert.deepStrictEqual(yield* fs.readFile(file), before)
          assert.strictEqual(error.path, file)
          return error
        })

        yield* fs.writeFileString(file, "to be, or not to be\n".repeat(100))
        const text = yield* refusal
        assert.strictEqual(text.code, "STORAGE_FAILED")
        assert.include(text.message, "not a database; move the file away or choose another one")

        yield* fs.remove(file)
        yield* fs.writeFile(file, new Uint8Array())
        yield* elsewhere(({ run }) => run("CREATE TABLE recipes (name TEXT)"))
        const foreign = yield* refusal
        assert.strictEqual(foreign.code, "STORAGE_FAILED")
        assert.include(foreign.message, "the database of another program")

        // What was wrong may be put right meanwhile.
        yield* fs.remove(file)
        yield* store()
        assert.strictEqual((yield* load()).length, 4)
      })
    )
  )

  it.live("is refused by name when its schema is newer", () =>
    inPlace(
      Effect.gen(function* () {
        yield* store()
        yield* elsewhere(({ run }) => run("PRAGMA user_version = 99"))
        const { file } = yield* Place
        const error = yield* PersistenceSqlite.make({ file }).pipe(
          Effect.flatMap((sessions) => sessions.load(id)),
          Effect.flip,
          Effect.provide(NodeContext.layer)
        )
        assert.strictEqual(error.code, "UNSUPPORTED_FORMAT")
        assert.include(error.message, "version 99, this build knows 1; upgrade dsh")
      })
    )
  )

  it.live("that is damaged is reported as such", () =>
    inPlace(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { file } = yield* Place
        yield* fs.makeDirectory(file.slice(0, file.lastIndexOf("/")))
        yield* fs.writeFile(file, new Uint8Array())
        yield* elsewhere(({ run }) => run("CREATE TABLE recipes (name TEXT)"))
        const bytes = yield* fs.readFile(file)
        yield* fs.writeFile(file, bytes.fill(7, 100))
        const error = yield* Effect.flip(load())
        assert.strictEqual(error.code, "CORRUPT_LOG")
        assert.include(error.message, ".recover")
      })
    )
  )

  it.live("that cannot be there is no reason to crash", () =>
    inPlace(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { file, folder } = yield* Place
        yield* fs.writeFileString(`${folder}/home`, "")
        const noFolder = yield* Effect.flip(store())
        assert.strictEqual(noFolder.code, "STORAGE_FAILED")
        assert.include(noFolder.message, file)
        yield* fs.remove(`${folder}/home`)
        yield* fs.makeDirectory(file, { recursive: true })
        const noFile = yield* Effect.flip(store())
        assert.strictEqual(noFile.code, "STORAGE_FAILED")
        assert.include(noFile.message, `cannot open ${file}`)
        assert.include(noFile.message, "choose another file")
      })
    )
  )
})

describe("the log", () => {
  it.live("packs ten thousand deltas into few rows, and gives all of them back", () =>
    inPlace(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        const deltas = Array.from({ length: 10_000 }, (_, n): SessionEvent => ({
          type: "assistant/chunk",
          seq: n + 1,
          time: 1000 + n * 3,
          data: { turn: 1, step: 1, chunk: { type: "text-delta", index: 0, text: `${n} ` } }
        }))
        const half: ChunkRun = {
          kind: "text-delta",
          turn: 1,
          step: 1,
          index: 0,
          seq: 5001,
          times: Array.from({ length: 5000 }, (_, n) => 1000 + (n + 5000) * 3),
          texts: Array.from({ length: 5000 }, (_, n) => `${n + 5000} `)
        }
        const start: SessionEvent = { type: "turn/start", seq: 0, time: 1, data: { turn: 1 } }
        yield* sessions.create(header())
        yield* sessions.append(id, [start, ...deltas.slice(0, 5000)])
        yield* sessions.append(id, [half])
        const stored = yield* load()
        assert.strictEqual(stored.length, 10_001)
        assert.deepStrictEqual([...stored.events], [start, ...deltas])
        const rows = yield* elsewhere(({ run }) => run("SELECT seq FROM events"))
        assert.deepStrictEqual(
          rows.map(({ seq }) => seq),
          [0, 1, 5001]
        )
        const { sessions: listed } = yield* sessions.list
        assert.deepStrictEqual(
          listed.map(({ length, updatedAt }) => [length, updatedAt]),
          [[10_001, 1000 + 9999 * 3]]
        )
      })
    )
  )

  it.live("takes a batch of many rows at once", () =>
    inPlace(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        const events = Array.from({ length: 1500 }, (_, n) => turn(n * 4, n)).flat()
        yield* sessions.create(header())
        yield* sessions.append(id, events)
        assert.deepStrictEqual([...(yield* load()).events], events)
      })
    )
  )

  it.live("is not written behind when somebody else wrote to it or deleted it", () =>
    inPlace(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        yield* store()
        yield* sessions.resume(id)
        const [next] = turn(4, 20)
        const line = JSON.stringify(next)
        const write = elsewhere(({ run }) =>
          Effect.zipRight(
            run(`INSERT INTO events VALUES ('s-1', 4, '${line}')`),
            run("UPDATE sessions SET length = 5 WHERE id = 's-1'")
          )
        )
        yield* write
        const grown = yield* Effect.flip(sessions.append(id, turn(4, 30)))
        assert.strictEqual(grown.code, "TORN_TAIL")
        assert.include(grown.message, "close the session and resume it")
        assert.deepStrictEqual([...(yield* load()).events], [...turn(0, 10), next])

        yield* elsewhere(({ run }) => run("UPDATE sessions SET length = 4 WHERE id = 's-1'"))
        assert.strictEqual((yield* Effect.flip(sessions.append(id, turn(4, 30)))).code, "TORN_TAIL")

        yield* elsewhere(({ run }) => run("DELETE FROM sessions WHERE id = 's-1'"))
        const gone = yield* Effect.flip(sessions.append(id, turn(4, 30)))
        assert.strictEqual(gone.code, "TORN_TAIL")
        assert.include(gone.message, "no longer in")
      })
    )
  )

  it.live("never replaces a session that somebody else stored meanwhile", () =>
    inPlace(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        const { file } = yield* Place
        const other = yield* Effect.provide(PersistenceSqlite.make({ file }), NodeContext.layer)
        yield* sessions.create(header())
        yield* other.create(header())
        yield* other.append(id, turn(0, 1))
        const error = yield* Effect.flip(sessions.append(id, turn(0, 2)))
        assert.strictEqual(error.code, "SESSION_ALREADY_EXISTS")
        assert.deepStrictEqual([...(yield* load()).events], turn(0, 1))
      })
    )
  )

  it.live("loses a bad end when it is resumed, not when it is read, and keeps it aside", () =>
    inPlace(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        for (const bad of [
          '{"type":"turn/st',
          '{"type":"turn/start","seq":4,"time":1,"data":{"turn":"one"}}',
          "{}",
          ""
        ]) {
          yield* store()
          yield* elsewhere(({ run }) => run(`INSERT INTO events VALUES ('s-1', 4, '${bad}'), ('s-1', 5, '{}')`))
          const read = yield* load()
          assert.deepStrictEqual([...read.events], turn(0, 10))
          assert.strictEqual(read.tornBytes, bad.length + 2)
          const count = elsewhere(({ run }) => run("SELECT seq, record FROM events WHERE seq > 3"))
          assert.strictEqual((yield* count).length, 2)
          yield* Effect.scoped(
            Effect.gen(function* () {
              assert.strictEqual((yield* sessions.resume(id)).length, 4)
              yield* sessions.append(id, turn(4, 20))
            })
          )
          const whole = yield* load()
          assert.strictEqual(whole.tornBytes, 0)
          assert.deepStrictEqual([...whole.events], [...turn(0, 10), ...turn(4, 20)])
          const torn = yield* elsewhere(({ run }) => run("SELECT seq, record FROM torn ORDER BY number"))
          assert.deepEqual(
            torn.map((row) => ({ ...row })),
            [
              { seq: 4, record: bad },
              { seq: 5, record: "{}" }
            ]
          )
          yield* elsewhere(({ run }) => Effect.zipRight(run("PRAGMA foreign_keys = ON"), run("DELETE FROM sessions")))
        }
      })
    )
  )

  it.live("names the event that is wrong when a turn ends behind it, and changes nothing", () =>
    inPlace(
      Effect.gen(function* () {
        yield* store()
        yield* elsewhere(({ run }) => run("UPDATE events SET record = 'oops' WHERE seq = 1"))
        const bad = yield* Effect.flip(load())
        assert.strictEqual(bad.code, "CORRUPT_LOG")
        assert.include(bad.message, "session s-1 in")
        assert.include(bad.message, "event 1 is bad: it is not JSON")
        assert.strictEqual((yield* Effect.flip(resume)).code, "CORRUPT_LOG")
        yield* elsewhere(({ run }) => run("DELETE FROM events WHERE seq = 1"))
        const { length, notices } = yield* load()
        assert.deepStrictEqual([length, notices], [4, ["event 1 is missing before the row of event 2"]])
        assert.strictEqual((yield* elsewhere(({ run }) => run("SELECT seq FROM events"))).length, 3)
      })
    )
  )

  it.live("is counted again when it is resumed", () =>
    inPlace(
      Effect.gen(function* () {
        yield* store()
        yield* elsewhere(({ run }) => run("UPDATE sessions SET length = 99"))
        assert.strictEqual((yield* resume).length, 4)
        const { sessions } = yield* (yield* SessionPersistence).list
        assert.strictEqual(sessions[0]?.length, 4)
      })
    )
  )
})

describe("the list", () => {
  it.live("survives every broken neighbour, with a warning for each, and looks at no events", () =>
    inPlace(
      Effect.gen(function* () {
        for (const [n, name] of ["one", "two", "three", "four", "five"].entries()) yield* store(SessionId(name), n)
        const headers = {
          one: "not JSON",
          two: JsonlCodec.encodeHeader(header(SessionId("somebody"))),
          three: '{"type":"session","version":7,"id":"three"}'
        }
        yield* elsewhere(({ run }) => run("DROP VIEW log"))
        yield* elsewhere(({ run }) => run("DROP TABLE events"))
        for (const [name, text] of Object.entries(headers)) {
          yield* elsewhere(({ run }) => run(`UPDATE sessions SET header = '${text}' WHERE id = '${name}'`))
        }
        const { sessions, warnings } = yield* (yield* SessionPersistence).list
        assert.deepStrictEqual(
          sessions.map((summary) => [summary.header.id, summary.length, summary.updatedAt]),
          [
            [SessionId("five"), 4, 4],
            [SessionId("four"), 4, 3]
          ]
        )
        assert.deepStrictEqual(
          warnings.map(({ code }) => code),
          ["UNSUPPORTED_FORMAT", "CORRUPT_LOG", "CORRUPT_LOG"]
        )
        assert.include(warnings[1]?.message, "its header is that of session somebody")
        assert.include(warnings[2]?.message, "session one in")
      })
    )
  )
})

describe("the lock", () => {
  const lock = (pid: number | undefined, host: string, started?: string) =>
    elsewhere(({ run }) =>
      run(
        `INSERT OR REPLACE INTO locks VALUES ('s-1', ${pid}, '${host}', ${started === undefined ? "NULL" : `'${started}'`})`
      )
    )
  const locks = elsewhere(({ run }) => run("SELECT * FROM locks"))

  it.live("is there as long as the session is open", () =>
    inPlace(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        yield* store()
        assert.deepStrictEqual(yield* locks, [])
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* sessions.resume(id)
            assert.deepStrictEqual(
              (yield* locks).map(({ pid, session_id }) => [session_id, pid]),
              [["s-1", process.pid]]
            )
          })
        )
        assert.deepStrictEqual(yield* locks, [])
      })
    )
  )

  it.live("of a process that is gone is taken over", () =>
    inPlace(
      Effect.gen(function* () {
        yield* store()
        const dead = spawnSync(process.execPath, ["-e", ""])
        yield* lock(dead.pid, hostname())
        assert.strictEqual((yield* resume).length, 4)
        if (process.platform === "linux") {
          // Another process under the same pid.
          yield* lock(process.ppid, hostname(), "boot:1")
          assert.strictEqual((yield* resume).length, 4)
        }
        assert.deepStrictEqual(yield* locks, [])
      })
    )
  )

  it.live("of a living process stands, and so does one of another host", () =>
    inPlace(
      Effect.gen(function* () {
        yield* store()
        yield* lock(process.ppid, hostname())
        const here = yield* Effect.flip(resume)
        assert.strictEqual(here.code, "SESSION_IN_USE")
        assert.include(here.message, `process ${process.ppid};`)
        yield* lock(1, "elsewhere")
        const far = yield* Effect.flip(resume)
        assert.strictEqual(far.code, "SESSION_IN_USE")
        assert.include(far.message, "on elsewhere")
        assert.include(far.message, 'table "locks"')
        assert.strictEqual((yield* locks).length, 1)
      })
    )
  )

  it.live("that is stale is taken over by one of many", () =>
    inPlace(
      Effect.gen(function* () {
        yield* store()
        const { file } = yield* Place
        const dead = spawnSync(process.execPath, ["-e", ""])
        yield* lock(dead.pid, hostname())
        const outcomes = yield* Effect.scoped(
          Effect.forEach(
            [1, 2, 3, 4],
            () =>
              Effect.either(
                Effect.flatMap(Effect.provide(PersistenceSqlite.make({ file }), NodeContext.layer), (sessions) =>
                  sessions.resume(id)
                )
              ),
            { concurrency: "unbounded" }
          )
        )
        assert.strictEqual(outcomes.filter(Either.isRight).length, 1)
        for (const outcome of outcomes) {
          if (Either.isLeft(outcome)) assert.strictEqual(outcome.left.code, "SESSION_IN_USE")
        }
      })
    )
  )
})
