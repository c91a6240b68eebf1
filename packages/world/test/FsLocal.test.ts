// What `FsLocal` adds to the rules of `Fs`: that which only a real file system has.
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { execFileSync } from "node:child_process"
import * as NodeFs from "node:fs"
import * as Path from "node:path"
import * as FsLocal from "../src/FsLocal.ts"
import { tempDir } from "./support.ts"

const bytes = (text: string) => Buffer.from(text)

/** A service, a folder, and the usual questions about a path in it. */
const world = Effect.gen(function* () {
  const fs = FsLocal.make()
  const dir = yield* tempDir
  const at = (path: string) => fs.resolve(path, { cwd: dir })
  return {
    fs,
    at,
    place: (path: string) => Path.join(dir, path),
    put: (path: string, text: string) => NodeFs.writeFileSync(Path.join(dir, path), text),
    textOf: (path: string) => NodeFs.readFileSync(Path.join(dir, path), "utf8"),
    names: () => NodeFs.readdirSync(dir).sort(),
    write: (path: string, text: string) => Effect.flatMap(at(path), (target) => fs.write(target, bytes(text)))
  }
})

const codeOf = <A, E extends { readonly code: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error.code)

describe("FsLocal", () => {
  it.scopedLive.skipIf(process.platform !== "linux")("is bounded by what comes, not by what the file claims", () =>
    Effect.gen(function* () {
      const { at, fs } = yield* world
      const status = yield* at("/proc/self/status")
      assert.strictEqual((yield* fs.stat(status))?.size, 0)
      assert.include(Buffer.from((yield* fs.readBytes(status)).bytes).toString(), "Pid:")
      assert.strictEqual(yield* codeOf(fs.readBytes(status, { maxBytes: 5 })), "FS_TOO_LARGE")
    })
  )

  it.scopedLive("never opens what could block", () =>
    Effect.gen(function* () {
      const { at, fs, place } = yield* world
      execFileSync("mkfifo", [place("pipe")])
      const pipe = yield* at("pipe")
      assert.strictEqual((yield* fs.stat(pipe))?.type, "other")
      assert.strictEqual(yield* codeOf(fs.readBytes(pipe)), "FS_NOT_REGULAR_FILE")
      assert.strictEqual(yield* codeOf(fs.write(pipe, bytes("x"))), "FS_NOT_REGULAR_FILE")
      assert.strictEqual(yield* codeOf(fs.readBytes(yield* at("/dev/zero"))), "FS_NOT_REGULAR_FILE")
    })
  )

  it.scopedLive("keeps what is not content: mode and owner, also of what has two names", () =>
    Effect.gen(function* () {
      const { at, fs, place, put, write } = yield* world
      put("script", "old")
      NodeFs.chmodSync(place("script"), 0o4751)
      if (process.getuid?.() === 0) NodeFs.chownSync(place("script"), 1234, 4321)
      const before = NodeFs.statSync(place("script"))
      assert.strictEqual((yield* fs.stat(yield* at("script")))?.mode, before.mode & 0o7777)
      const isKept = () => {
        const after = NodeFs.statSync(place("script"))
        assert.deepStrictEqual([after.mode, after.uid, after.gid], [before.mode, before.uid, before.gid])
      }
      yield* write("script", "new")
      isKept()
      NodeFs.linkSync(place("script"), place("hard"))
      yield* write("hard", "both")
      isKept()
    })
  )

  it.scopedLive("a new file gets the usual permissions", () =>
    Effect.gen(function* () {
      const { place, put, write } = yield* world
      put("plain", "")
      yield* write("ours", "x")
      assert.strictEqual(NodeFs.statSync(place("ours")).mode, NodeFs.statSync(place("plain")).mode)
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
