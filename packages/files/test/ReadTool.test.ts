import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as NodeFs from "node:fs"
import { codeOf, folder, read, textOf, tools } from "./support.ts"

const shown = (path: string, body: string) => `<path>${path}</path>\n<type>file</type>\n<content>\n${body}\n</content>`

describe("ReadTool", () => {
  it.scopedLive("shows numbered lines and how to go on", () =>
    Effect.gen(function* () {
      const { at, put } = yield* folder
      put("a.txt", "alpha\nbeta\ngamma\ndelta\nepsilon\n6\n7\n8\n9\n10\n")
      const path = at("a.txt")
      assert.strictEqual(
        textOf(yield* read(path, { offset: 3, limit: 2 })),
        shown(path, "3: gamma\n4: delta\n\n(shown 3-4 of 10; next offset 5)")
      )
      assert.strictEqual(
        textOf(yield* read(path, { offset: 9 })),
        shown(path, "9: 9\n10: 10\n\n(shown 9-10 of 10; end of file)")
      )
      assert.include(textOf(yield* read(path)), "\n10: 10\n\n(end of file, 10 lines)\n</content>")
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("treats the edges of a file with care", () =>
    Effect.gen(function* () {
      const { at, put } = yield* folder
      put("empty", "")
      put("one", "no newline")
      put("crlf", "a\r\nb\r\n")
      assert.strictEqual(textOf(yield* read(at("empty"))), shown(at("empty"), "(the file is empty)"))
      assert.strictEqual(codeOf(yield* read(at("empty"), { offset: 2 })), "FS_NOT_FOUND")
      assert.include(textOf(yield* read(at("one"))), "1: no newline\n\n(end of file, 1 line)")
      assert.include(textOf(yield* read(at("crlf"))), "1: a\n2: b\n")
      const past = yield* read(at("one"), { offset: 2 })
      assert.strictEqual(codeOf(past), "FS_NOT_FOUND")
      assert.include(textOf(past), "has 1 line;")
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("keeps within its limits and names the next offset", () =>
    Effect.gen(function* () {
      const { at, put } = yield* folder
      put("long", "x".repeat(5000))
      put("many", "line\n".repeat(5000))
      put("big", `${"y".repeat(1000)}\n`.repeat(200))
      assert.include(textOf(yield* read(at("long"))), `1: ${"x".repeat(2000)}… (line cut, 5000 bytes in all)`)
      assert.include(textOf(yield* read(at("many"), { limit: 9999 })), "(shown 1-2000 of 5000; next offset 2001)")
      const big = textOf(yield* read(at("big")))
      assert.include(big, "(shown 1-51 of 200; cut at 51200 bytes; next offset 52)")
      assert.isBelow(big.length, 53_000)
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("decodes what has a mark, hides the mark, and says when something is not UTF-8", () =>
    Effect.gen(function* () {
      const { at, put } = yield* folder
      put("bom.cs", "\uFEFFusing X;\n")
      put("wide", Buffer.from("\uFEFFgrün\r\nzwei", "utf16le"))
      put("wide-be", Buffer.from("\uFEFFgrün", "utf16le").swap16())
      put("latin", Buffer.from("x\ncaf\xe9\n", "latin1"))
      assert.include(textOf(yield* read(at("bom.cs"))), "\n1: using X;\n")
      assert.include(textOf(yield* read(at("wide"))), "\n1: grün\n2: zwei\n")
      assert.include(textOf(yield* read(at("wide"))), "(encoded in utf-16le; edits keep it)")
      assert.include(textOf(yield* read(at("wide-be"))), "\n1: grün\n")
      const latin = textOf(yield* read(at("latin")))
      assert.include(latin, "2: café\n")
      assert.include(latin, "(encoded in iso-8859-1, as its bytes tell; edits keep it)")
      // Also where the lines that are shown have none of it.
      assert.include(textOf(yield* read(at("latin"), { limit: 1 })), "(encoded in iso-8859-1")
      put("koi8", Buffer.from([0x78, 0x0a, 0xf0, 0xd2, 0xc9, 0xd7, 0xc5, 0xd4, 0x2c, 0xcd, 0x0a]))
      const unknown = textOf(yield* read(at("koi8")))
      assert.include(unknown, "2: \uFFFD\uFFFD")
      assert.include(unknown, "not valid UTF-8")
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("refuses what is no text file", () =>
    Effect.gen(function* () {
      const { at, dir, put } = yield* folder
      put("binary", Buffer.from("\x7fELF\0\0"))
      put("Notes.md", "x")
      assert.strictEqual(codeOf(yield* read(at("binary"))), "FS_NOT_TEXT")
      assert.strictEqual(codeOf(yield* read(dir)), "FS_NOT_REGULAR_FILE")
      const missing = yield* read(at("notes.txt"))
      assert.strictEqual(codeOf(missing), "FS_NOT_FOUND")
      assert.include(textOf(missing), `did you mean ${at("Notes.md")}?`)
      for (const args of [{ offset: 0 }, { limit: -1 }, { offset: 1.5 }, { file_path: " " }]) {
        assert.strictEqual(codeOf(yield* read(at("binary"), args)), "INVALID_ARGS", JSON.stringify(args))
      }
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("reads a window of a huge file", () =>
    Effect.gen(function* () {
      const { at } = yield* folder
      const file = NodeFs.openSync(at("huge"), "w")
      for (let i = 0; i < 30; i++) NodeFs.writeSync(file, "0123456789abcde\n".repeat(65_536))
      NodeFs.closeSync(file)
      const text = textOf(yield* read(at("huge"), { offset: 1_966_079 }))
      assert.include(
        text,
        "1966079: 0123456789abcde\n1966080: 0123456789abcde\n\n(shown 1966079-1966080 of 1966080; end of file)"
      )
    }).pipe(Effect.provide(tools))
  )
})
