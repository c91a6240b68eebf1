import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { execFileSync } from "node:child_process"
import * as NodeFs from "node:fs"
import * as Path from "node:path"
import * as ContentVersion from "../src/ContentVersion.ts"
import { FsError } from "../src/Fs.ts"
import * as FsLocal from "../src/FsLocal.ts"
import { tempDir } from "./support.ts"

const bytes = (text: string) => Buffer.from(text)
const version = (text: string) => ContentVersion.of(bytes(text))

/** A service, a folder, and the usual questions about a path in it. */
const world = Effect.gen(function* () {
  const fs = FsLocal.make()
  const dir = yield* tempDir
  const at = (path: string) => fs.resolve(path, { cwd: dir })
  return {
    fs,
    dir,
    at,
    put: (path: string, text: string | Uint8Array) => NodeFs.writeFileSync(Path.join(dir, path), text),
    textOf: (path: string) => NodeFs.readFileSync(Path.join(dir, path), "utf8"),
    names: (path = ".") => NodeFs.readdirSync(Path.join(dir, path)).sort(),
    write: (path: string, text: string, expected?: string) =>
      Effect.flatMap(at(path), (target) => fs.write(target, bytes(text), expected === undefined ? {} : { expected }))
  }
})

const codeOf = <A, E extends { readonly code: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error.code)

describe("FsLocal", () => {
  describe("resolve", () => {
    it.scopedLive("gives one key to all names of a place", () =>
      Effect.gen(function* () {
        const { at, dir, put } = yield* world
        NodeFs.mkdirSync(Path.join(dir, "real/deep"), { recursive: true })
        put("real/file", "x")
        NodeFs.symlinkSync("real", Path.join(dir, "alias"))
        const direct = yield* at("real/file")
        assert.deepStrictEqual(direct, { targetKey: `${dir}/real/file`, displayPath: `${dir}/real/file` })
        assert.deepStrictEqual(yield* at("alias/file"), {
          targetKey: direct.targetKey,
          displayPath: `${dir}/alias/file`
        })
        assert.deepStrictEqual(yield* at(`${dir}/./real//file`), direct)
      })
    )

    it.scopedLive("takes a missing place as its deepest real ancestor plus the rest", () =>
      Effect.gen(function* () {
        const { at, dir } = yield* world
        NodeFs.mkdirSync(Path.join(dir, "real"))
        NodeFs.symlinkSync("real", Path.join(dir, "alias"))
        NodeFs.symlinkSync("real/gone", Path.join(dir, "dangling"))
        NodeFs.symlinkSync("dangling", Path.join(dir, "twice"))
        assert.strictEqual((yield* at("alias/a/b")).targetKey, `${dir}/real/a/b`)
        assert.strictEqual((yield* at("dangling")).targetKey, `${dir}/real/gone`)
        assert.strictEqual((yield* at("twice/x")).targetKey, `${dir}/real/gone/x`)
      })
    )

    it.scopedLive("follows a link before it goes up, as the system does", () =>
      Effect.gen(function* () {
        const { at, dir } = yield* world
        NodeFs.mkdirSync(Path.join(dir, "real/deep"), { recursive: true })
        NodeFs.symlinkSync("real/deep", Path.join(dir, "link"))
        const up = yield* at("link/../x")
        assert.deepStrictEqual(up, { targetKey: `${dir}/real/x`, displayPath: `${dir}/real/x` })
      })
    )

    it.scopedLive("refuses what cannot be a place", () =>
      Effect.gen(function* () {
        const { at, dir, put } = yield* world
        put("file", "")
        NodeFs.symlinkSync("loop", Path.join(dir, "loop"))
        assert.strictEqual(yield* codeOf(at("file/below")), "FS_NOT_DIRECTORY")
        assert.strictEqual(yield* codeOf(at("loop")), "FS_IO_ERROR")
        assert.strictEqual(yield* codeOf(at("a\0b")), "FS_IO_ERROR")
      })
    )
  })

  describe("reading", () => {
    it.scopedLive("reads whole, in pieces and from /proc, with one version for one content", () =>
      Effect.gen(function* () {
        const { at, fs, put } = yield* world
        const content = Buffer.alloc(1_000_000, "0123456789\n")
        put("big", content)
        const target = yield* at("big")
        const read = yield* fs.readBytes(target)
        assert.isTrue(content.equals(read.bytes))
        assert.strictEqual(read.version, ContentVersion.of(content))
        const pieces = [...(yield* Stream.runCollect(fs.streamBytes(target)))]
        assert.isAbove(pieces.length, 1)
        assert.isTrue(content.equals(Buffer.concat(pieces)))
        if (process.platform === "linux") {
          const proc = yield* fs.readBytes(yield* at("/proc/self/status"))
          assert.include(Buffer.from(proc.bytes).toString(), "Pid:")
        }
      })
    )

    it.scopedLive("is bounded by what comes, not by what the file claims", () =>
      Effect.gen(function* () {
        const { at, fs, put } = yield* world
        put("ten", "0123456789")
        const target = yield* at("ten")
        assert.strictEqual((yield* fs.readBytes(target, { maxBytes: 10 })).bytes.length, 10)
        assert.strictEqual(yield* codeOf(fs.readBytes(target, { maxBytes: 9 })), "FS_TOO_LARGE")
        if (process.platform === "linux") {
          assert.strictEqual(
            yield* codeOf(fs.readBytes(yield* at("/proc/self/status"), { maxBytes: 5 })),
            "FS_TOO_LARGE"
          )
        }
      })
    )

    it.scopedLive("never opens what could block", () =>
      Effect.gen(function* () {
        const { at, dir, fs } = yield* world
        execFileSync("mkfifo", [Path.join(dir, "pipe")])
        const pipe = yield* at("pipe")
        assert.strictEqual((yield* fs.stat(pipe))?.type, "other")
        assert.strictEqual(yield* codeOf(fs.readBytes(pipe)), "FS_NOT_REGULAR_FILE")
        assert.strictEqual(yield* codeOf(fs.write(pipe, bytes("x"))), "FS_NOT_REGULAR_FILE")
        assert.strictEqual(yield* codeOf(fs.readBytes(yield* at("/dev/zero"))), "FS_NOT_REGULAR_FILE")
        assert.strictEqual(yield* codeOf(fs.readBytes(yield* at("."))), "FS_NOT_REGULAR_FILE")
        assert.strictEqual(yield* codeOf(fs.readBytes(yield* at("missing"))), "FS_NOT_FOUND")
        assert.strictEqual(yield* codeOf(Stream.runDrain(fs.streamBytes(yield* at("missing")))), "FS_NOT_FOUND")
      })
    )

    it.scopedLive("lists by name and describes", () =>
      Effect.gen(function* () {
        const { at, dir, fs, put } = yield* world
        put("b", "12345")
        NodeFs.chmodSync(Path.join(dir, "b"), 0o750)
        NodeFs.mkdirSync(Path.join(dir, "a"))
        NodeFs.symlinkSync("b", Path.join(dir, "c"))
        assert.deepStrictEqual(yield* fs.listDir(yield* at(".")), [
          { name: "a", type: "directory" },
          { name: "b", type: "file" },
          { name: "c", type: "symlink" }
        ])
        assert.deepStrictEqual(yield* fs.stat(yield* at("b")), { type: "file", size: 5, mode: 0o750 })
        assert.isUndefined(yield* fs.stat(yield* at("nothing")))
        assert.strictEqual(yield* codeOf(fs.listDir(yield* at("b"))), "FS_NOT_DIRECTORY")
      })
    )
  })

  describe("write", () => {
    it.scopedLive("creates with parents, replaces, and leaves nothing beside", () =>
      Effect.gen(function* () {
        const { names, textOf, write } = yield* world
        assert.deepStrictEqual(yield* write("a/b/f", "one"), { operation: "create", version: version("one") })
        assert.deepStrictEqual(yield* write("a/b/f", "two"), { operation: "update", version: version("two") })
        assert.strictEqual(textOf("a/b/f"), "two")
        assert.deepStrictEqual(names("a/b"), ["f"])
        assert.strictEqual(yield* codeOf(write("a/b", "x")), "FS_NOT_REGULAR_FILE")
      })
    )

    it.scopedLive("keeps what is not content: mode, owner, links", () =>
      Effect.gen(function* () {
        const { dir, put, textOf, write } = yield* world
        put("script", "old")
        NodeFs.chmodSync(Path.join(dir, "script"), 0o4751)
        if (process.getuid?.() === 0) NodeFs.chownSync(Path.join(dir, "script"), 1234, 4321)
        const before = NodeFs.statSync(Path.join(dir, "script"))
        yield* write("script", "new")
        const after = NodeFs.statSync(Path.join(dir, "script"))
        assert.deepStrictEqual([after.mode, after.uid, after.gid], [before.mode, before.uid, before.gid])

        NodeFs.symlinkSync("script", Path.join(dir, "soft"))
        yield* write("soft", "through the link")
        assert.isTrue(NodeFs.lstatSync(Path.join(dir, "soft")).isSymbolicLink())
        assert.strictEqual(textOf("script"), "through the link")

        NodeFs.linkSync(Path.join(dir, "script"), Path.join(dir, "hard"))
        yield* write("script", "both")
        assert.strictEqual(textOf("hard"), "both")
        yield* write("hard", "longer content than before")
        assert.strictEqual(textOf("script"), "longer content than before")
      })
    )

    it.scopedLive("a new file gets the usual permissions", () =>
      Effect.gen(function* () {
        const { dir, put, write } = yield* world
        put("plain", "")
        yield* write("ours", "x")
        assert.strictEqual(NodeFs.statSync(Path.join(dir, "ours")).mode, NodeFs.statSync(Path.join(dir, "plain")).mode)
      })
    )

    it.scopedLive("creates what a dangling link points to, and the link stays", () =>
      Effect.gen(function* () {
        const { dir, textOf, write } = yield* world
        NodeFs.symlinkSync("far/away", Path.join(dir, "dangling"))
        yield* write("dangling", "here")
        assert.isTrue(NodeFs.lstatSync(Path.join(dir, "dangling")).isSymbolicLink())
        assert.strictEqual(textOf("far/away"), "here")
      })
    )

    it.scopedLive("checks what it is told to expect", () =>
      Effect.gen(function* () {
        const { put, textOf, write } = yield* world
        put("f", "v1")
        assert.strictEqual(yield* codeOf(write("f", "x", "absent")), "FS_NOT_OBSERVED")
        assert.strictEqual(yield* codeOf(write("f", "x", version("other"))), "FS_STALE_VERSION")
        assert.strictEqual(yield* codeOf(write("gone", "x", version("v1"))), "FS_STALE_VERSION")
        assert.strictEqual(textOf("f"), "v1")
        yield* write("f", "v2", version("v1"))
        yield* write("new", "v1", "absent")
        assert.strictEqual(textOf("f") + textOf("new"), "v2v1")
      })
    )

    it.scopedLive("of two guarded creations one wins and the other hears about it", () =>
      Effect.gen(function* () {
        const { at, fs, textOf } = yield* world
        const target = yield* at("f")
        // Two services share no lock: only the file system can decide.
        const create = (service: typeof fs, text: string) =>
          Effect.either(service.write(target, bytes(text), { expected: "absent" }))
        const results = yield* Effect.all([create(fs, "a"), create(FsLocal.make(), "b")], { concurrency: 2 })
        const lost = results.flatMap((result) => (result._tag === "Left" ? [result.left.code] : []))
        assert.deepStrictEqual(lost, ["FS_NOT_OBSERVED"])
        assert.include(["a", "b"], textOf("f"))
      })
    )
  })

  describe("modify", () => {
    it.scopedLive("takes turns on one file, by whatever name", () =>
      Effect.gen(function* () {
        const { at, dir, fs, put, textOf } = yield* world
        put("f", "")
        NodeFs.symlinkSync("f", Path.join(dir, "alias"))
        const names = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? "f" : "alias"))
        yield* Effect.forEach(
          names,
          (name, i) =>
            Effect.flatMap(at(name), (target) =>
              fs.modify(target, (current) =>
                Effect.as(Effect.yieldNow(), {
                  value: i,
                  bytes: bytes(`${Buffer.from(current?.bytes ?? []).toString()}${i};`)
                })
              )
            ),
          { concurrency: "unbounded" }
        )
        const seen = textOf("f").split(";").filter(Boolean).map(Number)
        assert.deepStrictEqual(
          seen.sort((a, b) => a - b),
          names.map((_, i) => i)
        )
      })
    )

    it.scopedLive("sees an absent file, and a failure leaves it absent", () =>
      Effect.gen(function* () {
        const { at, fs, names } = yield* world
        const target = yield* at("f")
        const refused = yield* Effect.flip(fs.modify(target, () => Effect.fail("no" as const)))
        assert.strictEqual(refused, "no")
        assert.deepStrictEqual(names(), [])
        const made = yield* fs.modify(target, (current) => Effect.succeed({ value: current, bytes: bytes("x") }))
        assert.deepStrictEqual(made, { value: undefined, written: { operation: "create", version: version("x") } })
      })
    )

    it.scopedLive("does not overwrite a change that came from outside meanwhile", () =>
      Effect.gen(function* () {
        const { at, fs, put, textOf } = yield* world
        put("f", "v1")
        const target = yield* at("f")
        const error = yield* Effect.flip(
          fs.modify(target, () => {
            put("f", "v2")
            return Effect.succeed({ value: 0, bytes: bytes("v3") })
          })
        )
        assert.instanceOf(error, FsError)
        assert.strictEqual(error.code, "FS_STALE_VERSION")
        assert.strictEqual(textOf("f"), "v2")
      })
    )

    it.scopedLive("interrupted, it leaves the file and the folder as they were, and the lock free", () =>
      Effect.gen(function* () {
        const { at, fs, names, put, textOf, write } = yield* world
        put("f", "v1")
        const target = yield* at("f")
        const stuck = yield* Effect.fork(fs.modify(target, () => Effect.never))
        const waiting = yield* Effect.fork(fs.write(target, bytes("never")))
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(waiting)
        yield* Fiber.interrupt(stuck)
        assert.strictEqual(textOf("f"), "v1")
        assert.deepStrictEqual(names(), ["f"])
        yield* write("f", "v2")
        assert.strictEqual(textOf("f"), "v2")
      })
    )

    it.scopedLive("whenever a write is interrupted, the content is old or new and nothing is left over", () =>
      Effect.gen(function* () {
        const { at, fs, names, put, textOf } = yield* world
        const target = yield* at("f")
        for (let turns = 0; turns < 40; turns++) {
          put("f", "old")
          const writing = yield* Effect.fork(fs.write(target, bytes("new")))
          for (let i = 0; i < turns; i++) yield* Effect.promise(() => new Promise(setImmediate))
          yield* Fiber.interrupt(writing)
          assert.include(["old", "new"], textOf("f"))
          assert.deepStrictEqual(names(), ["f"])
        }
      })
    )
  })
})
