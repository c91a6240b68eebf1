import * as FaultyFileSystem from "@dsh/testing/FaultyFileSystem"
import { assert, describe, it } from "@effect/vitest"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as PersistenceJsonl from "@dsh/persistence/PersistenceJsonl"
import { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import { MessageId, SessionId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { ChunkRun } from "@dsh/protocol/ChunkRun"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import { Effect, Either, Layer, TestClock } from "effect"
import type { Scope } from "effect"
import { spawnSync } from "node:child_process"
import { hostname } from "node:os"
import { Disk } from "./support/Disk.ts"
import * as DiskLayer from "./support/Disk.ts"

const persistence = (options: { readonly durability?: "strict"; readonly openFiles?: number } = {}) =>
  Layer.unwrapEffect(Effect.map(Disk, ({ root }) => PersistenceJsonl.layer({ root, ...options })))

type Services = Disk | FileSystem.FileSystem | SessionPersistence

const onDisk = <E>(
  test: Effect.Effect<void, E, Services | Scope.Scope>,
  options?: { readonly durability?: "strict"; readonly openFiles?: number }
) => Effect.provide(Effect.scoped(test), Layer.provideMerge(persistence(options), DiskLayer.layer))

const id = SessionId("s-1")
const header: SessionHeader = { version: 1, id, createdAt: 1_700_000_000_000, cwd: "/home/ada" }
const place = "--home-ada--/s-1/session.jsonl"

const events: ReadonlyArray<SessionEvent> = [
  { type: "turn/start", seq: 0, time: 10, data: { turn: 1 } },
  { type: "user/message", seq: 1, time: 11, data: Message.user(MessageId("m"), "hé"), surfaceOp: "append" },
  {
    type: "assistant/chunk",
    seq: 2,
    time: 12,
    data: { turn: 1, step: 1, chunk: { type: "text-delta", index: 0, text: "a" } }
  }
]

const run: ChunkRun = {
  kind: "text-delta",
  turn: 1,
  step: 1,
  index: 0,
  seq: 3,
  times: [13, 13],
  texts: ["b", "c"]
}

const end: SessionEvent = { type: "turn/end", seq: 5, time: 20, data: { turn: 1, reason: { kind: "completed" } } }

const headerLine =
  '{"type":"session","version":1,"id":"s-1","createdAt":1700000000000,"cwd":"/home/ada","delegationDepth":0}'
const bytes = [
  headerLine,
  '{"type":"turn/start","seq":0,"time":10,"data":{"turn":1}}',
  '{"type":"user/message","seq":1,"time":11,"data":{"id":"m","role":"user","content":[{"type":"text","text":"hé"}],"source":{"kind":"user"}},"surfaceOp":"append"}',
  '{"type":"text-chunks","seq0":2,"time0":12,"data":{"turn":1,"step":1,"index":0,"dt":[1,0],"texts":["a","b","c"]}}',
  '{"type":"turn/end","seq":5,"time":20,"data":{"turn":1,"reason":{"kind":"completed"}}}',
  ""
].join("\n")

/** The session above, stored. */
const stored = Effect.gen(function* () {
  const sessions = yield* SessionPersistence
  yield* sessions.create(header)
  yield* sessions.append(id, [...events, run])
  yield* sessions.append(id, [end])
})

const write = (path: string, content: string | Uint8Array) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const { root } = yield* Disk
    const file = `${root}/${path}`
    yield* fs.makeDirectory(file.slice(0, file.lastIndexOf("/")), { recursive: true })
    yield* fs.writeFile(file, typeof content === "string" ? new TextEncoder().encode(content) : content)
    return file
  })

const read = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.flatMap(Disk, ({ root }) => fs.readFileString(`${root}/${path}`))
  )

describe("the file", () => {
  it.live("is the header and one JSON value per line, byte for byte", () =>
    onDisk(
      Effect.gen(function* () {
        yield* stored
        const text = yield* read(place)
        assert.strictEqual(text, bytes)
        for (const line of text.split("\n").slice(0, -1)) assert.property(JSON.parse(line), "type")
        const { root } = yield* Disk
        assert.strictEqual(yield* (yield* SessionPersistence).locate(id), `${root}/${place}`)
      })
    )
  )

  it.live("is private, and leaves nothing else behind", () =>
    onDisk(
      Effect.gen(function* () {
        yield* stored
        const fs = yield* FileSystem.FileSystem
        const { root } = yield* Disk
        const mode = (path: string) => Effect.map(fs.stat(`${root}/${path}`), (info) => info.mode & 0o777)
        assert.strictEqual(yield* mode("--home-ada--"), 0o700)
        assert.strictEqual(yield* mode("--home-ada--/s-1"), 0o700)
        assert.strictEqual(yield* mode(place), 0o600)
        const inFolder = fs.readDirectory(`${root}/--home-ada--/s-1`)
        assert.sameMembers(yield* inFolder, ["session.jsonl", "session.lock"])
        assert.strictEqual(yield* mode("--home-ada--/s-1/session.lock"), 0o600)
      }).pipe(
        Effect.scoped,
        Effect.andThen(
          Effect.gen(function* () {
            const fs = yield* FileSystem.FileSystem
            const { root } = yield* Disk
            assert.deepStrictEqual(yield* fs.readDirectory(`${root}/--home-ada--/s-1`), ["session.jsonl"])
          })
        )
      )
    )
  )

  it.live("comes into being whole and by a link; what is not synced then is synced later, with the way to it", () =>
    onDisk(
      Effect.gen(function* () {
        yield* stored
        const { log } = yield* Disk
        const known = log.map((line) => line.replace(/\.[0-9a-f]{12}\.tmp/, ".TMP"))
        const folder = "--home-ada--/s-1"
        assert.deepStrictEqual(known.slice(0, 3), [`open ${place}.TMP`, `writeAll ${place}.TMP`, `link ${place}`])
        // The handle of the new file stays in use; it was opened under the temporary name.
        assert.deepStrictEqual(known.slice(3, 5), [`writeAll ${place}.TMP`, `sync ${place}.TMP`])
        assert.sameMembers(known.slice(5), [
          `open ${folder}`,
          "open --home-ada--",
          "open ",
          `sync ${folder}`,
          "sync --home-ada--",
          "sync "
        ])
      })
    )
  )

  it.live("is opened again when there are too many, and closed with the session", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        const ids = ["a", "b", "c"].map(SessionId)
        yield* Effect.scoped(
          Effect.gen(function* () {
            for (const one of ids) {
              yield* sessions.create({ ...header, id: one })
              yield* sessions.append(one, events)
            }
            const { log } = yield* Disk
            log.length = 0
            for (const one of ids) yield* sessions.append(one, [run])
            assert.deepStrictEqual(
              log.filter((line) => line.startsWith("open")),
              ids.map((one) => `open --home-ada--/${one}/session.jsonl`)
            )
          })
        )
        for (const one of ids) assert.strictEqual((yield* sessions.load(one)).length, 5)
      }),
      { openFiles: 1 }
    )
  )

  for (const openFiles of [1, 64]) {
    it.effect(`is not written behind what somebody else wrote, with ${openFiles} files open`, () =>
      onDisk(
        Effect.gen(function* () {
          const sessions = yield* SessionPersistence
          yield* sessions.create(header)
          yield* sessions.append(id, events)
          // With one file, that of the first session is closed by now.
          yield* sessions.create({ ...header, id: SessionId("other") })
          yield* sessions.append(SessionId("other"), events)
          const meddled = `${yield* read(place)}{"by":"somebody else"}\n`
          yield* write(place, meddled)
          const error = yield* Effect.flip(sessions.append(id, [run]))
          assert.strictEqual(error.code, "TORN_TAIL")
          assert.strictEqual(yield* read(place), meddled)
        }),
        { openFiles }
      )
    )
  }
})

describe("durability", () => {
  const syncs = Effect.map(
    Disk,
    ({ log }) => log.filter((line) => line.startsWith("sync") && line.includes("session.jsonl")).length
  )

  it.effect("process: syncs at the end of a turn and a second after anything else", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        yield* sessions.create(header)
        yield* sessions.append(id, events)
        const created = yield* syncs
        yield* sessions.append(id, [run])
        yield* TestClock.adjust("999 millis")
        assert.strictEqual((yield* syncs) - created, 0)
        yield* TestClock.adjust("1 millis")
        yield* sessions.load(id)
        assert.strictEqual((yield* syncs) - created, 1)
        yield* TestClock.adjust("10 seconds")
        yield* sessions.load(id)
        assert.strictEqual((yield* syncs) - created, 1)
        yield* sessions.append(id, [end])
        assert.strictEqual((yield* syncs) - created, 2)
      })
    )
  )

  it.effect("strict: syncs every batch", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        yield* sessions.create(header)
        yield* sessions.append(id, events)
        const created = yield* syncs
        yield* sessions.append(id, [run])
        assert.strictEqual((yield* syncs) - created, 1)
        yield* sessions.flush(id)
        assert.strictEqual((yield* syncs) - created, 1)
      }),
      { durability: "strict" }
    )
  )

  it.effect("flush syncs what was not, once; the end of the session does, too", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        const created = yield* Effect.scoped(
          Effect.gen(function* () {
            yield* sessions.create(header)
            yield* sessions.append(id, events)
            const created = yield* syncs
            yield* sessions.append(id, [run])
            yield* sessions.flush(id)
            yield* sessions.flush(id)
            assert.strictEqual((yield* syncs) - created, 1)
            yield* sessions.append(id, [{ type: "turn/start", seq: 5, time: 1, data: { turn: 2 } }])
            return created
          })
        )
        assert.strictEqual((yield* syncs) - created, 2)
      })
    )
  )
})

describe("reading", () => {
  it.live("leaves out a torn last line, wherever it is torn, and keeps it aside when somebody writes behind it", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        const whole = new TextEncoder().encode(bytes)
        const lastLine = whole.lastIndexOf(10, whole.length - 2) + 1
        for (let length = lastLine + 1; length < whole.length; length++) {
          yield* write(place, whole.subarray(0, length))
          const log = yield* sessions.load(id)
          assert.deepStrictEqual([log.length, log.tornBytes], [5, length - lastLine])
          yield* sessions.append(id, [end])
          assert.strictEqual(yield* read(place), bytes)
          const torn = new TextDecoder().decode(whole.subarray(lastLine, length))
          assert.strictEqual(yield* read(`${place}.torn-${lastLine}`), torn)
        }
      })
    )
  )

  it.live("names the line that is wrong", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        const lines = bytes.split("\n")
        const wrong: ReadonlyArray<readonly [line: number, content: string, reason: string]> = [
          [2, "{", "not JSON"],
          [2, "", "not JSON"],
          [3, "[]", "not an object"],
          [4, lines[3]!.replace("[1,0]", "[1]"), "row of chunks"],
          [5, lines[4]!.replace('"completed"', '"exhausted"'), "data of turn/end: reason: kind"],
          [5, headerLine, "no member"],
          [1, lines[1]!, "not a session header"],
          [1, headerLine.replace("s-1", "s-2"), "holds session s-2"]
        ]
        for (const [line, content, reason] of wrong) {
          // A turn ends further on: this is not the end of a log that was cut short.
          const file = yield* write(
            place,
            [...lines.with(line - 1, content).slice(0, -1), ...(line > 1 ? [lines[4]!] : []), ""].join("\n")
          )
          const error = yield* Effect.flip(sessions.load(id))
          assert.deepStrictEqual([error.code, error.line, error.path], ["CORRUPT_LOG", line, file])
          assert.include(error.message, reason)
        }
      })
    )
  )

  it.live("takes a bad line for the torn end when no turn ends behind it", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        const lines = bytes.split("\n")
        const open = lines.slice(0, 4)
        for (const damage of ["\0".repeat(64), '{"type":"text-chunks"}', "["]) {
          yield* write(place, [...open, damage, lines[2]!, ""].join("\n"))
          assert.strictEqual((yield* sessions.load(id)).length, 5)
          const stored = yield* Effect.scoped(sessions.resume(id))
          assert.deepStrictEqual([...stored.events].at(-1)?.data, { turn: 1, reason: { kind: "interrupted" } })
          const tail = yield* read(`${place}.torn-${new TextEncoder().encode(open.join("\n")).length + 1}`)
          assert.strictEqual(tail, `${damage}\n${lines[2]!}\n`)
          assert.deepInclude(yield* sessions.load(id), { length: 6, tornBytes: 0 })
        }
      })
    )
  )

  it.live("reads records whose numbers do not follow each other by one rule, says so, and goes on behind them", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        const lines = bytes.split("\n").slice(0, -1)
        const again = lines[1]!.replace('"time":10', '"time":11')
        const cases: ReadonlyArray<readonly [file: ReadonlyArray<string>, notices: ReadonlyArray<string>]> = [
          [
            [lines[0]!, lines[1]!, again, ...lines.slice(2)],
            ["line 2 holds event 0, which other records replace; it does not count"]
          ],
          [[...lines, again], ["line 6 holds event 0, which other records replace; it does not count"]],
          [lines.toSpliced(2, 1), ["event 1 is missing before line 3"]],
          [lines.toSpliced(3, 1), ["events 2 to 4 are missing before line 4"]]
        ]
        for (const [file, notices] of cases) {
          const content = `${file.join("\n")}\n`
          yield* write(place, content)
          const stored = yield* sessions.load(id)
          assert.deepStrictEqual([stored.length, stored.notices], [6, notices])
          assert.deepStrictEqual(
            [...stored.events].map(({ seq }) => seq),
            [0, 1, 2, 3, 4, 5]
          )
          const next = { type: "turn/start", seq: 6, time: 30, data: { turn: 2 } } as const
          yield* sessions.append(id, [next])
          assert.isTrue((yield* read(place)).startsWith(content))
          assert.deepStrictEqual([...(yield* sessions.load(id)).events], [...stored.events, next])
        }
      })
    )
  )

  it.live("finds the line that is not UTF-8, and a file without any line", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        const damaged = new TextEncoder().encode(bytes)
        damaged[damaged.indexOf(0xc3)] = 0xff
        yield* write(place, damaged)
        assert.deepInclude(yield* Effect.flip(sessions.load(id)), { code: "CORRUPT_LOG", line: 3 })
        for (const content of ["", headerLine]) {
          yield* write(place, content)
          assert.deepInclude(yield* Effect.flip(sessions.load(id)), { code: "CORRUPT_LOG", line: 1 })
        }
      })
    )
  )

  it.live("refuses another format version by name, without a look at the rest", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        for (const [version, advice] of [
          [2, "upgrade"],
          [0, "older"]
        ] as const) {
          const file = yield* write(place, `{"type":"session","version":${version},"new":{}}\n~~~\n`)
          const error = yield* Effect.flip(sessions.load(id))
          assert.strictEqual(error.code, "UNSUPPORTED_FORMAT")
          assert.include(error.message, file)
          assert.include(error.message, advice)
        }
      })
    )
  )

  it.live("reads lines longer than any buffer", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        yield* sessions.create(header)
        const texts = Array.from({ length: 40 }, (_, n) => "é".repeat(n * 20_000))
        const long: ReadonlyArray<SessionEvent> = texts.map((text, seq) => ({
          type: "user/message",
          seq,
          time: seq,
          data: Message.user(MessageId(`m-${seq}`), text),
          surfaceOp: "append"
        }))
        yield* sessions.append(id, long)
        yield* sessions.append(id, [{ ...end, seq: 40 }])
        const read = [...(yield* sessions.load(id)).events]
        assert.strictEqual(JSON.stringify(read), JSON.stringify([...long, { ...end, seq: 40 }]))
      })
    )
  )

  it.live("refuses an id that is stored twice, and names both files", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        const one = yield* write(place, bytes)
        const two = yield* write("--elsewhere--/s-1/session.jsonl", bytes)
        const error = yield* Effect.flip(sessions.load(id))
        assert.strictEqual(error.code, "AMBIGUOUS_SESSION")
        assert.include(error.message, one)
        assert.include(error.message, two)
        const { sessions: listed, warnings } = yield* sessions.list
        assert.strictEqual(listed.length, 2)
        assert.deepStrictEqual(
          warnings.map(({ code }) => code),
          ["AMBIGUOUS_SESSION"]
        )
      })
    )
  )

  it.live("does not open the logs of others to find one", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        yield* write("--other--/s-2/session.jsonl", bytes)
        yield* write("--other--/README", "not a folder")
        yield* write("stray", "not a folder either")
        yield* stored
        const disk = yield* Disk
        disk.log.length = 0
        disk.bytesRead = 0
        yield* sessions.load(id)
        assert.strictEqual(disk.bytesRead, new TextEncoder().encode(bytes).length)
        assert.deepStrictEqual(disk.log, [])
      })
    )
  )
})

describe("the list", () => {
  it.live("survives every broken neighbour, with a warning for each", () =>
    onDisk(
      Effect.gen(function* () {
        yield* stored
        const broken = {
          "--p--/empty/session.jsonl": "",
          "--p--/half/session.jsonl": headerLine,
          "--p--/garbage/session.jsonl": "\u0000\u0001\n",
          "--p--/newer/session.jsonl": '{"type":"session","version":7}\n',
          "--p--/misplaced/session.jsonl": bytes
        }
        for (const [path, content] of Object.entries(broken)) yield* write(path, content)
        yield* write("--p--/no-log/other.txt", "")
        yield* write("--p--/file", "")
        yield* write("file", "")
        const { root } = yield* Disk
        const { sessions, warnings } = yield* (yield* SessionPersistence).list
        assert.deepStrictEqual(
          sessions.map(({ bytes, header, length, path, updatedAt }) => [header.id, length, updatedAt, path, bytes]),
          [["s-1", 6, 20, `${root}/${place}`, new TextEncoder().encode(bytes).length]]
        )
        assert.sameMembers(
          warnings.map(({ code, path }) => `${code} ${path?.slice(root.length + 1)}`),
          Object.keys(broken).map((path) => `${path.includes("newer") ? "UNSUPPORTED_FORMAT" : "CORRUPT_LOG"} ${path}`)
        )
      })
    )
  )

  it.live("lists a log whose end it cannot make sense of, and says so", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        yield* write(place, `${bytes}{"type":"turn/st`)
        const torn = yield* sessions.list
        assert.deepStrictEqual([torn.sessions[0]?.length, torn.warnings.length], [6, 0])
        yield* write(place, `${bytes}nonsense\n`)
        const bad = yield* sessions.list
        assert.strictEqual(bad.sessions[0]?.header.id, id)
        assert.isUndefined(bad.sessions[0]?.length)
        assert.deepStrictEqual(
          bad.warnings.map(({ code }) => code),
          ["CORRUPT_LOG"]
        )
      })
    )
  )

  it.live("reads the two ends of a log, however long it is", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        const filler: ReadonlyArray<SessionEvent> = Array.from({ length: 5000 }, (_, seq) => ({
          type: "user/message",
          seq,
          time: seq,
          data: Message.user(MessageId(`m-${seq}`), "x".repeat(200)),
          surfaceOp: "append"
        }))
        yield* sessions.create({ ...header, cwd: `/${"deep/".repeat(2000)}` })
        yield* sessions.append(id, [...filler, { ...end, seq: 5000 }])
        const disk = yield* Disk
        disk.bytesRead = 0
        const listed = yield* sessions.list
        assert.strictEqual(listed.sessions[0]?.length, 5001)
        assert.isAtMost(disk.bytesRead, 64 * 1024)
        yield* sessions.append(id, [
          { ...filler[0]!, seq: 5001, data: Message.user(MessageId("long"), "y".repeat(1e6)) } as SessionEvent
        ])
        disk.bytesRead = 0
        const { bytes: size, length, updatedAt } = (yield* sessions.list).sessions[0]!
        assert.isUndefined(length)
        assert.isAbove(updatedAt, 1_700_000_000_000)
        assert.isAbove(size ?? 0, 2_000_000)
        assert.isAtMost(disk.bytesRead, 64 * 1024)
      })
    )
  )

  it.live("of a thousand sessions reads no more than 20 KiB of each, short or long", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        const lines = bytes.trimEnd().split("\n")
        // The record before the last is repeated: nobody would notice who does not read it.
        const long = [...lines.slice(0, -1), ...Array.from({ length: 2000 }, () => lines.at(-2)!), lines.at(-1)!]
        for (let n = 0; n < 1000; n++) {
          const log = (n % 10 === 0 ? long : lines).with(0, lines[0]!.replace("s-1", `s-${n}`))
          yield* write(`--p--/s-${n}/session.jsonl`, `${log.join("\n")}\n`)
        }
        const disk = yield* Disk
        disk.bytesRead = 0
        const { sessions: listed, warnings } = yield* sessions.list
        assert.deepStrictEqual([listed.length, warnings.length], [1000, 0])
        assert.isTrue(listed.every(({ length }) => length === 6))
        assert.isAbove(Math.max(...listed.map((each) => each.bytes ?? 0)), 100_000)
        const short = new TextEncoder().encode(bytes).length + 8
        assert.isAtMost(disk.bytesRead, 900 * 2 * short + 100 * 20 * 1024)
      })
    )
  )

  it.live("is empty where nothing was ever stored", () =>
    Effect.gen(function* () {
      const { root } = yield* Disk
      const sessions = yield* PersistenceJsonl.make({ root: `${root}/not/there` })
      assert.deepStrictEqual(yield* sessions.list, { sessions: [], warnings: [] })
    }).pipe(Effect.scoped, Effect.provide(DiskLayer.layer))
  )
})

describe("failing storage", () => {
  const failOnce = (operation: DiskLayer.Operation, fault: DiskLayer.Fault) =>
    Effect.map(Disk, (disk) => {
      disk.fault = (attempted, path) => {
        if (attempted !== operation || !path.includes("session.jsonl")) return undefined
        disk.fault = () => undefined
        return fault
      }
    })

  it.live("half a batch is cut off, and the batch can be stored again", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        yield* sessions.create(header)
        yield* sessions.append(id, events)
        const before = yield* read(place)
        yield* failOnce("writeAll", { code: "ENOSPC", partial: 20 })
        const error = yield* Effect.flip(sessions.append(id, [run]))
        assert.strictEqual(error.code, "STORAGE_FAILED")
        assert.include(error.message, "free some space")
        assert.strictEqual(yield* read(place), before)
        yield* sessions.append(id, [run, end])
        assert.strictEqual((yield* sessions.load(id)).length, 6)
      })
    )
  )

  it.live("a batch that could not be synced is cut off as well", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        yield* sessions.create(header)
        yield* sessions.append(id, [...events, run])
        const before = yield* read(place)
        yield* failOnce("sync", { code: "EIO" })
        yield* Effect.flip(sessions.append(id, [end]))
        assert.strictEqual(yield* read(place), before)
        yield* sessions.append(id, [end])
        assert.strictEqual((yield* sessions.load(id)).length, 6)
      })
    )
  )

  it.live("when the cut fails, too, both are told, and it is made up for before the next batch", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        const disk = yield* Disk
        yield* sessions.create(header)
        yield* sessions.append(id, events)
        disk.fault = (operation) =>
          operation === "writeAll"
            ? { code: "ENOSPC", partial: 20 }
            : operation === "truncate"
              ? { code: "EIO" }
              : undefined
        const error = yield* Effect.flip(sessions.append(id, [run]))
        assert.include(error.message, "ENOSPC")
        assert.include(error.message, "could not be taken back: EIO")
        assert.strictEqual((yield* sessions.load(id)).tornBytes, 20)
        disk.fault = () => undefined
        yield* sessions.append(id, [run, end])
        assert.deepInclude(yield* sessions.load(id), { length: 6, tornBytes: 0 })
      })
    )
  )

  it.live("a session that could not be created can be created again", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        const disk = yield* Disk
        const fs = yield* FileSystem.FileSystem
        yield* sessions.create(header)
        const faults: ReadonlyArray<(operation: DiskLayer.Operation, path: string) => boolean> = [
          (operation) => operation === "open",
          (operation) => operation === "writeAll",
          (operation, path) => operation === "sync" && path.endsWith(".tmp"),
          (operation) => operation === "link",
          (operation, path) => operation === "sync" && path.endsWith("s-1")
        ]
        for (const applies of faults) {
          disk.fault = (operation, path) => (applies(operation, path) ? { code: "EIO" } : undefined)
          const error = yield* Effect.flip(sessions.append(id, [...events, run, end]))
          assert.strictEqual(error.code, "STORAGE_FAILED")
          const left = yield* fs.readDirectory(`${disk.root}/--home-ada--/s-1`)
          assert.notInclude(left, "session.jsonl")
          assert.isEmpty(left.filter((name) => name.endsWith(".tmp")))
        }
        disk.fault = () => undefined
        yield* sessions.append(id, events)
        assert.strictEqual((yield* sessions.load(id)).length, 3)
      })
    )
  )

  it.live("never replaces a log that somebody else published meanwhile", () =>
    onDisk(
      Effect.gen(function* () {
        const sessions = yield* SessionPersistence
        yield* sessions.create(header)
        yield* write(place, bytes)
        const error = yield* Effect.flip(sessions.append(id, events))
        assert.strictEqual(error.code, "SESSION_ALREADY_EXISTS")
        assert.strictEqual(yield* read(place), bytes)
      })
    )
  )

  it.live("a root that is no folder is refused at once", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { root } = yield* Disk
      yield* fs.writeFileString(`${root}/file`, "")
      for (const path of [`${root}/file`, `${root}/file/below`]) {
        const error = yield* Effect.flip(PersistenceJsonl.make({ root: path }))
        assert.include(error.message, "not a folder")
      }
    }).pipe(Effect.scoped, Effect.provide(DiskLayer.layer))
  )
})

describe("the lock", () => {
  const lock = "--home-ada--/s-1/session.lock"
  const resume = Effect.scoped(Effect.flatMap(SessionPersistence, (sessions) => sessions.resume(id)))

  it.live("of a process that is gone is taken over, and so is one that a loss of power left empty", () =>
    onDisk(
      Effect.gen(function* () {
        yield* write(place, bytes)
        const dead = spawnSync(process.execPath, ["-e", ""])
        const host = hostname()
        const stale = [
          "",
          "{",
          JSON.stringify({ pid: dead.pid, host }),
          // Another process under the same pid.
          ...(process.platform === "linux" ? [JSON.stringify({ pid: process.ppid, host, started: "boot:1" })] : [])
        ]
        for (const content of stale) {
          yield* write(lock, content)
          assert.strictEqual((yield* resume).length, 6)
        }
        const fs = yield* FileSystem.FileSystem
        const { root } = yield* Disk
        assert.deepStrictEqual(yield* fs.readDirectory(`${root}/--home-ada--/s-1`), ["session.jsonl"])
      })
    )
  )

  it.live("of a living process stands, and so does one of another host", () =>
    onDisk(
      Effect.gen(function* () {
        yield* write(place, bytes)
        yield* write(lock, JSON.stringify({ pid: process.ppid, host: hostname() }))
        const here = yield* Effect.flip(resume)
        assert.strictEqual(here.code, "SESSION_IN_USE")
        assert.include(here.message, `process ${process.ppid}`)
        yield* write(lock, JSON.stringify({ pid: 1, host: "elsewhere" }))
        const elsewhere = yield* Effect.flip(resume)
        assert.strictEqual(elsewhere.code, "SESSION_IN_USE")
        assert.include(elsewhere.message, "on elsewhere")
        assert.include(elsewhere.message, "session.lock")
      })
    )
  )

  it.live("can be looked at without being taken", () =>
    onDisk(
      Effect.gen(function* () {
        yield* write(place, bytes)
        const { root } = yield* Disk
        const owner = PersistenceJsonl.ownerOf(`${root}/${place}`)
        assert.isUndefined(yield* owner)
        const dead = spawnSync(process.execPath, ["-e", ""]).pid
        for (const [content, isAlive] of [
          [JSON.stringify({ pid: process.ppid, host: hostname() }), true],
          [JSON.stringify({ pid: 1, host: "elsewhere" }), true],
          [JSON.stringify({ pid: dead, host: hostname() }), false],
          ["", false]
        ] as const) {
          yield* write(lock, content)
          assert.deepStrictEqual(yield* owner, { isAlive })
          assert.strictEqual(yield* read(lock), content)
        }
      })
    )
  )

  it.live("is given back by whoever took it, and by nobody else", () =>
    onDisk(
      Effect.gen(function* () {
        yield* write(place, bytes)
        const taken = JSON.stringify({ pid: process.ppid, host: hostname() })
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* (yield* SessionPersistence).resume(id)
            yield* write(lock, taken)
          })
        )
        assert.strictEqual(yield* read(lock), taken)
      })
    )
  )

  it.live("that could not be removed is taken over by the same process", () =>
    Effect.gen(function* () {
      const { root } = yield* Disk
      let broken = true
      const fs = FaultyFileSystem.make(yield* FileSystem.FileSystem, (operation, path) =>
        broken && operation === "remove" && path.endsWith("session.lock") ? { code: "EIO" } : undefined
      )
      const open = Effect.provideService(PersistenceJsonl.make({ root }), FileSystem.FileSystem, fs)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const sessions = yield* open
          yield* sessions.create(header)
          yield* sessions.append(id, events)
        })
      )
      assert.include(yield* read(lock), String(process.pid))
      broken = false
      const sessions = yield* open
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* sessions.resume(id)
          const other = yield* Effect.flip(Effect.scoped(Effect.flatMap(open, (again) => again.resume(id))))
          assert.strictEqual(other.code, "SESSION_IN_USE")
        })
      )
      assert.isFalse(yield* fs.exists(`${root}/${lock}`))
    }).pipe(Effect.scoped, Effect.provide(DiskLayer.layer))
  )

  it.live("that is stale is taken over by one of many", () =>
    onDisk(
      Effect.gen(function* () {
        yield* write(place, bytes)
        const { root } = yield* Disk
        const dead = spawnSync(process.execPath, ["-e", ""])
        for (let round = 0; round < 20; round++) {
          yield* write(lock, JSON.stringify({ pid: dead.pid, host: hostname() }))
          const outcomes = yield* Effect.scoped(
            Effect.forEach(
              [1, 2, 3, 4],
              () =>
                Effect.either(
                  Effect.flatMap(Effect.provide(PersistenceJsonl.make({ root }), NodePath.layer), (sessions) =>
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
        }
      })
    )
  )
})
