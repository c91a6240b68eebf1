// Settings that are edited by the program beside the people who write them.
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { FileSystem } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, Schema, TestClock } from "effect"
import * as DocumentFile from "../src/DocumentFile.ts"
import type { Op } from "../src/DocumentFile.ts"

const Colors = Schema.Struct({ colors: Schema.Array(Schema.String) })

/** Gives a file of that content, if any, and what is done with it; its folder is gone afterwards. */
const withFile = <A, E>(
  content: string | undefined,
  use: (file: string, fs: FileSystem.FileSystem) => Effect.Effect<A, E, FileSystem.FileSystem>,
  name = "settings.yaml"
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const file = `${folder}/${name}`
    if (content !== undefined) yield* fs.writeFileString(file, content)
    return yield* use(file, fs)
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

const edited = (content: string | undefined, ops: ReadonlyArray<Op>, name?: string) =>
  withFile(
    content,
    (file, fs) =>
      Effect.zipRight(
        DocumentFile.edit(file, () => ops),
        fs.readFileString(file)
      ),
    name
  )

const commented = `# my colors
b: 2 # two

colors:
  # warm ones
  - red
  - orange # nearly
a: 1
`

describe("a file of settings that is edited", () => {
  it.effect("keeps comments, order and everything that was not changed", () =>
    Effect.gen(function* () {
      const added = yield* edited(commented, [{ op: "set", path: ["colors", 2], value: "#bash(a: b)" }])
      assert.strictEqual(added, commented.replace("nearly\n", 'nearly\n  - "#bash(a: b)"\n'))
      assert.strictEqual(yield* edited(added, [{ op: "unset", path: ["colors", 2] }]), commented)
      const windows = commented.replaceAll("\n", "\r\n")
      assert.strictEqual(
        yield* edited(windows, [{ op: "set", path: ["a"], value: 2 }]),
        windows.replace("a: 1", "a: 2")
      )
    })
  )

  it.effect("is made with all that leads to a value, and stays JSON where it is JSON", () =>
    Effect.gen(function* () {
      const ops = [{ op: "set", path: ["x", "list", 0], value: "one" }] as const
      assert.strictEqual(yield* edited(undefined, ops), "x:\n  list:\n    - one\n")
      assert.strictEqual(yield* edited("# only a comment\n", ops), "# only a comment\n\nx:\n  list:\n    - one\n")
      assert.strictEqual(yield* edited("x:\nb: 1\n", ops), "b: 1\nx:\n  list:\n    - one\n")
      const json = yield* edited('{"a": 1}', ops, "settings.json")
      assert.deepStrictEqual(JSON.parse(json), { a: 1, x: { list: ["one"] } })
    })
  )

  it.effect("is not touched when it does not parse, and not when nothing changes", () =>
    Effect.gen(function* () {
      for (const [content, ops] of [
        ["a: [1\n", [{ op: "set", path: ["a"], value: 1 }]],
        ["a: 1\n", [{ op: "set", path: ["a", "b"], value: 1 }]],
        ["a:   1\n", []]
      ] as const) {
        yield* withFile(content, (file, fs) =>
          Effect.gen(function* () {
            const { code } = yield* Effect.match(
              DocumentFile.edit(file, () => ops),
              { onFailure: ({ code }) => ({ code }), onSuccess: () => ({ code: "none" as const }) }
            )
            assert.strictEqual(code, ops.length === 0 ? "none" : "SETTINGS_INVALID")
            assert.strictEqual(yield* fs.readFileString(file), content)
            assert.deepStrictEqual(yield* fs.readDirectory(file.replace(/\/[^/]*$/, "")), ["settings.yaml"])
          })
        )
      }
    })
  )

  it.live("loses no edit of many at once", () =>
    withFile(undefined, (file) =>
      Effect.gen(function* () {
        const names = Array.from({ length: 8 }, (_, i) => `color ${i}`)
        yield* Effect.forEach(
          names,
          (name) =>
            DocumentFile.edit(file, (value) => [
              { op: "set", path: ["colors", Array.isArray(value["colors"]) ? value["colors"].length : 0], value: name }
            ]),
          { concurrency: "unbounded" }
        )
        const { colors } = Option.getOrThrow(yield* DocumentFile.read(file, Colors))
        assert.deepStrictEqual([...colors].sort(), names)
      })
    )
  )

  it.effect("is read by nobody else, and stays the link that it is", () =>
    withFile("a: 1\n", (file, fs) =>
      Effect.gen(function* () {
        const link = file.replace("settings", "linked")
        yield* fs.symlink(file, link)
        yield* DocumentFile.edit(link, () => [{ op: "set", path: ["a"], value: 2 }])
        assert.strictEqual(yield* fs.readLink(link), file)
        assert.strictEqual(yield* fs.readFileString(file), "a: 2\n")
        assert.strictEqual((yield* fs.stat(file)).mode & 0o777, 0o600)
      })
    )
  )

  const change = (file: string) => DocumentFile.edit(file, () => [{ op: "set", path: ["a"], value: 2 }])

  it.effect("follows a process that died while it wrote", () =>
    withFile("a: 1\n", (file, fs) =>
      Effect.gen(function* () {
        const { hostname } = yield* Effect.promise(() => import("node:os"))
        // No process has a number as high as that.
        yield* fs.writeFileString(`${file}.lock`, JSON.stringify({ pid: 2 ** 30, host: hostname() }))
        const edit = yield* Effect.fork(change(file))
        yield* TestClock.adjust("1 second").pipe(
          Effect.zipRight(Effect.yieldNow()),
          Effect.repeat({ until: () => edit.unsafePoll() !== null })
        )
        yield* Fiber.join(edit)
        assert.strictEqual(yield* fs.readFileString(file), "a: 2\n")
        assert.isFalse(yield* fs.exists(`${file}.lock`))
      })
    )
  )

  it.effect("says who to look for when somebody else is writing", () =>
    withFile("a: 1\n", (file, fs) =>
      Effect.gen(function* () {
        yield* fs.writeFileString(`${file}.lock`, JSON.stringify({ pid: process.pid, host: "elsewhere" }))
        const edit = yield* Effect.fork(Effect.flip(change(file)))
        yield* TestClock.adjust("1 second").pipe(
          Effect.zipRight(Effect.yieldNow()),
          Effect.repeat({ until: () => edit.unsafePoll() !== null })
        )
        const { code, message } = yield* Fiber.join(edit)
        assert.strictEqual(code, "SETTINGS_LOCKED")
        assert.include(message, `remove ${file}.lock`)
        assert.strictEqual(yield* fs.readFileString(file), "a: 1\n")
      })
    )
  )
})
