/**
 * Rules about content that takes the place of other content, or of nothing.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { holds, refused, same } from "../ContractViolation.ts"
import type { ContractCase } from "../FsContract.ts"
import * as Place from "./Place.ts"

export const writing: ReadonlyArray<ContractCase> = [
  {
    name: "a file is created with the folders it needs, then replaced, and nothing comes to be beside it",
    run: (world) =>
      Effect.gen(function* () {
        const { names, text, write } = yield* Place.open(world)
        const created = yield* write("a/b/f", "one, and long")
        yield* same("created", created, { operation: "create", version: Place.versionOf("one, and long") })
        const updated = yield* write("a/b/f", "two")
        yield* same("updated", updated, { operation: "update", version: Place.versionOf("two") })
        yield* same("content", yield* text("a/b/f"), "two")
        yield* same("emptied", (yield* write("a/b/f", "")).operation, "update")
        yield* same("content", yield* text("a/b/f"), "")
        yield* same("names", [yield* names("a/b"), yield* names("a"), yield* names()], [["f"], ["b"], ["a"]])
      })
  },
  {
    name: "what has to be there is checked: nothing, or a version",
    run: (world) =>
      Effect.gen(function* () {
        const { names, text, write } = yield* Place.open(world)
        yield* write("f", "v1")
        yield* refused("absent", write("f", "x", "absent"), "FS_NOT_OBSERVED", `${world.cwd}/f`)
        yield* refused("another", write("f", "x", Place.versionOf("v0")), "FS_STALE_VERSION", `${world.cwd}/f`)
        yield* refused("gone", write("gone", "x", Place.versionOf("v1")), "FS_STALE_VERSION", `${world.cwd}/gone`)
        yield* refused("gone, deep", write("a/b", "x", Place.versionOf("v1")), "FS_STALE_VERSION", `${world.cwd}/a/b`)
        yield* same("content", yield* text("f"), "v1")
        yield* same("nothing came into being", yield* names(), ["f"])
        yield* write("f", "v2", Place.versionOf("v1"))
        yield* write("new", "v1", "absent")
        yield* same("contents", [yield* text("f"), yield* text("new")], ["v2", "v1"])
      })
  },
  {
    name: "what another service wrote counts like one's own",
    run: (world) =>
      Effect.gen(function* () {
        const [one, other] = [yield* Place.open(world), yield* Place.open(world)]
        yield* one.write("f", "v1")
        yield* other.write("f", "v2", Place.versionOf("v1"))
        yield* refused("stale", one.write("f", "v3", Place.versionOf("v1")), "FS_STALE_VERSION", "f")
        yield* refused("there", one.write("f", "v3", "absent"), "FS_NOT_OBSERVED", "f")
        yield* same("content", yield* one.text("f"), "v2")
      })
  },
  {
    name: "of guarded creations by several services one wins and the others hear about it",
    run: (world) =>
      Effect.gen(function* () {
        const services = [yield* Place.open(world), yield* Place.open(world), yield* Place.open(world)]
        for (const path of ["a", "deep/b", "deep/c", "d"]) {
          const creations = services.map(({ write }, i) => Effect.either(write(path, `by ${i}`, "absent")))
          const results = yield* Effect.all(creations, { concurrency: "unbounded" })
          const winners = results.flatMap(({ _tag }, i) => (_tag === "Right" ? [`by ${i}`] : []))
          const lost = results.flatMap((result) => (result._tag === "Left" ? [result.left.code] : []))
          yield* same("who lost", lost, ["FS_NOT_OBSERVED", "FS_NOT_OBSERVED"])
          yield* same("content", [yield* services[0]!.text(path)], winners)
        }
      })
  },
  {
    name: "who reads meanwhile sees the old content or the new, and never something in between",
    run: (world) =>
      Effect.gen(function* () {
        const { at, fs } = yield* Place.open(world)
        const target = yield* at("f")
        const contents = ["a", "b"].map((letter) => Place.bytesOf(letter.repeat(600_000)))
        yield* fs.write(target, contents[0]!)
        const writing = Effect.forEach([1, 0, 1, 0, 1], (which) => fs.write(target, contents[which]!))
        const look = Effect.gen(function* () {
          const { bytes } = yield* fs.readBytes(target)
          yield* holds(
            "it is one of the two",
            contents.some((content) => Place.equal(content, bytes))
          )
          const pieces = Buffer.concat([...(yield* Stream.runCollect(fs.streamBytes(target)))])
          yield* holds(
            "so is what is streamed",
            contents.some((content) => Place.equal(content, pieces))
          )
        })
        yield* Effect.all([writing, Effect.repeatN(look, 5)], { concurrency: 2, discard: true })
      })
  },
  {
    name: "what the caller does to its buffer afterwards changes nothing",
    run: (world) =>
      Effect.gen(function* () {
        const { at, fs, text } = yield* Place.open(world)
        const buffer = Place.bytesOf("as it was")
        const target = yield* at("f")
        for (const operation of ["create", "update"]) {
          yield* same("operation", (yield* fs.write(target, buffer)).operation, operation)
          buffer.fill(0)
          yield* same("content", yield* text("f"), "as it was")
          buffer.set(Place.bytesOf("as it was"))
        }
      })
  },
  {
    name: "a folder is not replaced by a file, and no file by a folder",
    run: (world) =>
      Effect.gen(function* () {
        const { at, fs, names, text, write } = yield* Place.open(world)
        yield* write("folder/f", "x")
        for (const expected of [undefined, "absent", Place.versionOf("x")]) {
          yield* refused("a folder", write("folder", "x", expected), "FS_NOT_REGULAR_FILE", `${world.cwd}/folder`)
        }
        // Found when nothing was there, and a file by the time it is written to.
        const below = yield* at("gone/below")
        yield* write("gone", "a file now")
        yield* refused("write", fs.write(below, Place.bytesOf("x")), "FS_NOT_DIRECTORY", "gone")
        yield* refused("read", fs.readBytes(below), "FS_NOT_DIRECTORY", "gone")
        yield* refused("list", fs.listDir(below), "FS_NOT_DIRECTORY", "gone")
        yield* refused("stat", fs.stat(below), "FS_NOT_DIRECTORY", "gone")
        yield* same("names", [yield* names(), yield* names("folder")], [["folder", "gone"], ["f"]])
        yield* same("content", yield* text("gone"), "a file now")
      })
  },
  {
    name: "a link that is written to stays one, and what it leads to is written, there or not",
    needs: "symbolic",
    run: (world) =>
      Effect.gen(function* () {
        const { link, text, types, write } = yield* Place.open(world)
        yield* write("real/file", "old")
        yield* link("real/file", "a")
        yield* link("far/away", "b")
        yield* link("real", "c")
        yield* write("a", "new")
        yield* same("created", (yield* write("b", "here")).operation, "create")
        yield* refused("again", write("b", "x", "absent"), "FS_NOT_OBSERVED", `${world.cwd}/b`)
        yield* write("c/other", "there")
        const paths = ["real/file", "far/away", "b", "real/other"]
        yield* same("contents", yield* Effect.forEach(paths, text), ["new", "here", "here", "there"])
        yield* refused("a link to a folder", write("c", "x"), "FS_NOT_REGULAR_FILE", "c")
        const expected = ["symlink a", "symlink b", "symlink c", "directory far", "directory real"]
        yield* same("entries", yield* types(), expected)
      })
  },
  {
    name: "what is written by one of several names of a file is read by all of them",
    needs: "hard",
    run: (world) =>
      Effect.gen(function* () {
        const { hardLink, text, write } = yield* Place.open(world)
        yield* write("one", "old")
        yield* hardLink("one", "other")
        yield* write("one", "short")
        yield* same("other", yield* text("other"), "short")
        yield* write("other", "longer than it was before")
        yield* same("one", yield* text("one"), "longer than it was before")
        yield* write("one", "x")
        yield* same("shorter again", [yield* text("one"), yield* text("other")], ["x", "x"])
      })
  }
]
