import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer } from "effect"
import * as InPlace from "../src/InPlace.ts"

const inPlace = Layer.provide(InPlace.layer, NodeFileSystem.layer)

type Step = (fs: FileSystem.FileSystem, at: (name: string) => string) => Effect.Effect<unknown, PlatformError>

/** Each step finds what those before it left behind. */
const steps: Record<string, Step> = {
  "finds nothing": (fs, at) => fs.exists(at("new")),
  "cannot list nothing": (fs, at) => fs.readDirectory(at("new")),
  "makes folders": (fs, at) => Effect.asVoid(fs.makeDirectory(at("new/deep"), { recursive: true, mode: 0o700 })),
  "makes folders that are there": (fs, at) => fs.makeDirectory(at("new/deep"), { recursive: true }),
  "cannot make a folder that is there": (fs, at) => fs.makeDirectory(at("new")),
  "cannot make a folder nowhere": (fs, at) => fs.makeDirectory(at("other/deep")),
  "finds a folder": (fs, at) => fs.exists(at("new")),
  "writes a file": (fs, at) => fs.writeFileString(at("new/file"), "text"),
  "writes a new file": (fs, at) => fs.writeFileString(at("new/short"), "short", { flag: "wx", mode: 0o600 }),
  "never writes over what is there": (fs, at) => fs.writeFileString(at("new/short"), "more", { flag: "wx" }),
  "left it as it was": (fs, at) => fs.readFileString(at("new/short")),
  "made it as told": (fs, at) => Effect.map(fs.stat(at("new/short")), ({ mode }) => mode & 0o777),
  "finds nothing beneath a file": (fs, at) => fs.exists(at("new/file/deep")),
  "cannot list a file": (fs, at) => fs.readDirectory(at("new/file")),
  "links a file": (fs, at) => fs.link(at("new/file"), at("new/link")),
  "never links over what is there": (fs, at) => fs.link(at("new/file"), at("new/link")),
  "cannot link nothing": (fs, at) => fs.link(at("new/nothing"), at("new/other")),
  "lists a folder": (fs, at) => Effect.map(fs.readDirectory(at("new")), (names) => names.sort()),
  "lists folders in folders": (fs, at) =>
    Effect.map(fs.readDirectory(at(""), { recursive: true }), (names) => names.sort()),
  "removes a file": (fs, at) => fs.remove(at("new/link")),
  "cannot remove nothing": (fs, at) => fs.remove(at("new/link")),
  "does not mind to remove nothing": (fs, at) => fs.remove(at("new/link"), { force: true }),
  "removes no folder unasked": (fs, at) => fs.remove(at("new")),
  "removes a folder": (fs, at) => fs.remove(at("new"), { recursive: true }),
  "leaves nothing": (fs, at) => fs.readDirectory(at(""))
}

const outcome = ({ name, step }: { readonly name: string; readonly step: Step }, folder: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const result = yield* Effect.either(step(fs, (path) => `${folder}/${path}`))
    return Either.match(result, {
      onRight: (value) => ({ name, value }),
      onLeft: (error) => ({ name, method: error.method, reason: error._tag === "SystemError" ? error.reason : "-" })
    })
  })

const outcomes = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  return yield* Effect.forEach(Object.entries(steps), ([name, step]) => outcome({ name, step }, folder))
}).pipe(Effect.scoped)

describe("InPlace", () => {
  it.live("does and refuses what the platform does and refuses", () =>
    Effect.gen(function* () {
      const expected = yield* Effect.provide(outcomes, NodeFileSystem.layer)
      assert.deepStrictEqual(yield* Effect.provide(outcomes, inPlace), expected)
      assert.deepStrictEqual(
        expected.flatMap((one) => ("reason" in one ? one.reason : [])),
        [
          "NotFound",
          "AlreadyExists",
          "NotFound",
          "AlreadyExists",
          "BadResource",
          "BadResource",
          "AlreadyExists",
          "NotFound",
          "NotFound",
          "Unknown"
        ]
      )
    })
  )

  it.live("appends behind what others appended", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = `${yield* fs.makeTempDirectoryScoped()}/log`
      const [one, two] = [yield* fs.open(path, { flag: "ax" }), yield* fs.open(path, { flag: "a" })]
      const text = (written: string) => new TextEncoder().encode(written)
      yield* one.writeAll(text("a"))
      yield* two.writeAll(text("bc"))
      yield* one.writeAll(text("d"))
      assert.strictEqual(yield* fs.readFileString(path), "abcd")
    }).pipe(Effect.scoped, Effect.provide(inPlace))
  )

  it.live("says which file cannot be appended to", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = `${yield* fs.makeTempDirectoryScoped()}/log`
      const file = yield* Effect.scoped(fs.open(path, { flag: "a" }))
      const error = yield* Effect.flip(file.writeAll(new Uint8Array(1)))
      assert.strictEqual(error._tag === "SystemError" && error.pathOrDescriptor, path)
    }).pipe(Effect.scoped, Effect.provide(inPlace))
  )
})
