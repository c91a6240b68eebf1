/**
 * Rules about what is read of files and folders, and about what cannot be read.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ContentVersion from "../ContentVersion.ts"
import { holds, refused, same } from "../ContractViolation.ts"
import type { ContractCase } from "../FsContract.ts"
import * as Place from "./Place.ts"

/** No byte value is missing in it, nor what text would make something else of. */
const anything = Uint8Array.from(
  [0xef, 0xbb, 0xbf, 0xff, 0xfe, 0x0d, 0x0a, 0x0d, 0xc3, 0x28, 0xed, 0xa0, 0x80].concat([...Array(256).keys()])
)

const big = Uint8Array.from({ length: 1_000_000 }, (_, i) => (i * 7 + (i >> 8)) % 251)

export const reading: ReadonlyArray<ContractCase> = [
  {
    name: "whatever bytes are written come back as they are",
    run: (world) =>
      Effect.gen(function* () {
        const { at, fs } = yield* Place.open(world)
        const other = yield* Place.open(world)
        for (const [name, content] of Object.entries({ anything, big, empty: new Uint8Array(0) })) {
          const target = yield* at(name)
          yield* fs.write(target, content)
          const { bytes } = yield* other.fs.readBytes(target)
          yield* holds(`${name} is what was written`, Place.equal(bytes, content))
          yield* same(`size of ${name}`, (yield* fs.stat(target))?.size, content.length)
        }
      })
  },
  {
    name: "a file is streamed in pieces, as often as somebody asks and as far as they read",
    run: (world) =>
      Effect.gen(function* () {
        const { at, fs, write } = yield* Place.open(world)
        const target = yield* at("big")
        yield* fs.write(target, big)
        const stream = fs.streamBytes(target)
        const pieces = [...(yield* Stream.runCollect(stream))]
        yield* holds("there is more than one piece", pieces.length > 1)
        yield* holds("they are the file", Place.equal(Buffer.concat(pieces), big))
        yield* same("the first alone", yield* Stream.runCount(Stream.take(stream, 1)), 1)
        yield* write("big", "other")
        const again = [...(yield* Stream.runCollect(stream))]
        yield* same("again", Place.textOf(Buffer.concat(again)), "other")
        yield* write("empty", "")
        const nothing = [...(yield* Stream.runCollect(fs.streamBytes(yield* at("empty"))))]
        yield* same("an empty file", Buffer.concat(nothing).length, 0)
      })
  },
  {
    name: "the version is that of the content: the same for the same, another for another",
    run: (world) =>
      Effect.gen(function* () {
        const { at, fs, write } = yield* Place.open(world)
        const versionOf = (path: string) => Effect.map(Effect.flatMap(at(path), fs.readBytes), ({ version }) => version)
        yield* write("a", "one")
        yield* write("b", "one")
        yield* same("of a", yield* versionOf("a"), Place.versionOf("one"))
        yield* same("of b", yield* versionOf("b"), Place.versionOf("one"))
        yield* same("what a write says", (yield* write("a", "two")).version, Place.versionOf("two"))
        yield* same("afterwards", yield* versionOf("a"), Place.versionOf("two"))
        yield* write("a", "one")
        yield* same("as it was", yield* versionOf("a"), Place.versionOf("one"))
      })
  },
  {
    name: "a file may have as many bytes as are allowed, and not one more",
    run: (world) =>
      Effect.gen(function* () {
        const { at, fs } = yield* Place.open(world)
        for (const content of [Place.bytesOf("0123456789"), big]) {
          const target = yield* at(`of-${content.length}`)
          yield* fs.write(target, content)
          const { bytes, version } = yield* fs.readBytes(target, { maxBytes: content.length })
          yield* same("read", bytes.length, content.length)
          yield* same("version", version, ContentVersion.of(content))
          const refuse = fs.readBytes(target, { maxBytes: content.length - 1 })
          yield* refused("one too many", refuse, "FS_TOO_LARGE", target.displayPath)
        }
      })
  },
  {
    name: "only what is a file can be read",
    run: (world) =>
      Effect.gen(function* () {
        const { at, fs, write } = yield* Place.open(world)
        yield* write("folder/file", "x")
        const wrong = [
          ["missing", "FS_NOT_FOUND"],
          ["missing/too", "FS_NOT_FOUND"],
          ["folder", "FS_NOT_REGULAR_FILE"],
          [".", "FS_NOT_REGULAR_FILE"]
        ] as const
        for (const [path, code] of wrong) {
          const target = yield* at(path)
          yield* refused(path, fs.readBytes(target), code, target.displayPath)
          yield* refused(`stream ${path}`, Stream.runDrain(fs.streamBytes(target)), code, target.displayPath)
        }
      })
  },
  {
    name: "what a reader does to the bytes changes nothing",
    run: (world) =>
      Effect.gen(function* () {
        const { at, fs, text, write } = yield* Place.open(world)
        yield* write("f", "as it was")
        const target = yield* at("f")
        const read = yield* fs.readBytes(target)
        read.bytes.fill(0)
        yield* Stream.runForEach(fs.streamBytes(target), (piece) => Effect.sync(() => piece.fill(0)))
        yield* same("content", yield* text("f"), "as it was")
      })
  },
  {
    name: "stat tells what is there, how large it is and who may use it, and that nothing is there",
    run: (world) =>
      Effect.gen(function* () {
        const { at, fs, write } = yield* Place.open(world)
        yield* write("folder/file", "12345")
        const stat = (path: string) => Effect.flatMap(at(path), fs.stat)
        const file = yield* stat("folder/file")
        yield* same("file", [file?.type, file?.size], ["file", 5])
        yield* holds("its mode is permission bits", file !== undefined && (file.mode & ~0o7777) === 0)
        yield* holds("its owner may read and write it", ((file?.mode ?? 0) & 0o600) === 0o600)
        yield* same("folder", (yield* stat("folder"))?.type, "directory")
        for (const path of ["/", "/../.."]) yield* same(path, (yield* stat(path))?.type, "directory")
        for (const path of ["nothing", "nothing/at/all"]) yield* same(path, yield* stat(path), undefined)
      })
  },
  {
    name: "a folder is listed by name, with what each entry is",
    run: (world) =>
      Effect.gen(function* () {
        const { at, fs, types, write } = yield* Place.open(world)
        yield* same("empty", yield* types(), [])
        for (const name of ["b", "9", "a/deep/er", "B", "10", "a-b", ".hidden"]) yield* write(name, "x")
        const expected = ["file .hidden", "file 10", "file 9", "file B", "directory a", "file a-b", "file b"]
        yield* same("entries", yield* types(), expected)
        yield* same("below", yield* types("a"), ["directory deep"])
        for (const [path, code] of [
          ["b", "FS_NOT_DIRECTORY"],
          ["missing", "FS_NOT_FOUND"]
        ] as const) {
          const target = yield* at(path)
          yield* refused(path, fs.listDir(target), code, target.displayPath)
        }
      })
  },
  {
    name: "what a link leads to is read and listed; the link itself is an entry of its own",
    needs: "symbolic",
    run: (world) =>
      Effect.gen(function* () {
        const { at, fs, link, names, text, types, write } = yield* Place.open(world)
        yield* write("folder/file", "12345")
        yield* link("folder", "a")
        yield* link("a/file", "b")
        yield* link("nowhere", "c")
        yield* same("content", yield* text("b"), "12345")
        const stat = yield* fs.stat(yield* at("b"))
        yield* same("stat", [stat?.type, stat?.size], ["file", 5])
        yield* same("a folder", yield* names("a"), ["file"])
        yield* same("one that dangles", yield* fs.stat(yield* at("c")), undefined)
        yield* refused("reading it", text("c"), "FS_NOT_FOUND", "c")
        yield* same("entries", yield* types(), ["symlink a", "symlink b", "symlink c", "directory folder"])
      })
  }
]
