import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as NodeFs from "node:fs"
import { call, codeOf, edit, folder, read, textOf, tools, write } from "./support.ts"

/** Puts a file, reads it, edits it; gives the outcome and the bytes that are there afterwards. */
const on = (content: string | Uint8Array, old_string: string, new_string: string, args: object = {}) =>
  Effect.gen(function* () {
    const { at, bytes, put } = yield* folder
    put("f", content)
    yield* read(at("f"))
    const outcome = yield* edit(at("f"), old_string, new_string, args)
    return { outcome, text: textOf(outcome), code: codeOf(outcome), bytes: bytes("f").toString("latin1") }
  })

const latin1 = (text: string) => Buffer.from(text, "latin1")
const utf8 = (text: string) => Buffer.from(text, "utf8").toString("latin1")

describe("EditTool", () => {
  it.scopedLive("replaces and says where", () =>
    Effect.gen(function* () {
      const one = yield* on("a\nb\nc\n", "b", "B")
      assert.match(one.text, /^edited \/.*\/f: 1 replacement at line 2$/)
      assert.strictEqual(one.bytes, "a\nB\nc\n")
      const all = yield* on("a\nb\na\n", "a", "x", { replace_all: true })
      assert.match(all.text, /: 2 replacements at lines 1, 3$/)
      assert.strictEqual(all.bytes, "x\nb\nx\n")
      const tolerant = yield* on("\tif a:\n\t\tb()\n", "    if a:\n        b()\n", "    if a:\n        c()\n")
      assert.match(tolerant.text, /indented like the file/)
      assert.strictEqual(tolerant.bytes, "\tif a:\n\t\tc()\n")
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("changes no byte that it was not asked to change", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<[content: Uint8Array, before: string, after: string, result: string]> = [
        // CRLF, mark, and no newline at the end.
        [Buffer.from("\uFEFFusing X;\r\nb"), "using X;", "using Y;\nusing Z;", utf8("\uFEFFusing Y;\r\nusing Z;\r\nb")],
        [Buffer.from("\uFEFFusing X;\n"), "\uFEFFusing X;", "using Y;", utf8("\uFEFFusing Y;\n")],
        // Latin-1, GBK and Shift-JIS elsewhere in the file.
        [latin1("const x = 1;\n// caf\xe9\n"), "x = 1", "x = 2", "const x = 2;\n// caf\xe9\n"],
        [latin1("a = 1 // \xd6\xd0\xce\xc4\n"), "a = 1", "a = 2", "a = 2 // \xd6\xd0\xce\xc4\n"],
        [latin1("\x95\x5c = 1\r\nb = 1"), "b = 1", "b = 2", "\x95\x5c = 1\r\nb = 2"],
        // In their own encoding: the text is found, and what takes its place is written in it.
        [latin1("x = 'caf\xe9'; // \xe0 b\n"), "'café'", "'thé'", "x = 'th\xe9'; // \xe0 b\n"],
        [
          latin1("a // \xd6\xd0\xce\xc4\xa3\xac\xc4\xe3\r\nb"),
          "中文",
          "文中文",
          "a // \xce\xc4\xd6\xd0\xce\xc4\xa3\xac\xc4\xe3\r\nb"
        ],
        [latin1("\x95\x5c\x8e\xa6\n\\"), "\\", "表", "\x95\x5c\x8e\xa6\n\x95\x5c"],
        [latin1("\x95\x5c\x8e\xa6\n"), "示", "/", "\x95\x5c/\n"],
        [Buffer.from("über\nb\n"), "über", "unter €", utf8("unter €\nb\n")],
        [
          Buffer.from("\uFEFFgrün\r\nb\r\n", "utf16le"),
          "grün\nb",
          "rot\nb",
          Buffer.from("\uFEFFrot\r\nb\r\n", "utf16le").toString("latin1")
        ],
        [
          Buffer.from("\uFEFFa\nb", "utf16le").swap16(),
          "b",
          "🐋",
          Buffer.from("\uFEFFa\n🐋", "utf16le").swap16().toString("latin1")
        ]
      ]
      for (const [content, before, after, result] of cases) {
        assert.strictEqual((yield* on(content, before, after)).bytes, result)
        assert.strictEqual((yield* on(content, before, after, { replace_all: true })).bytes, result)
      }
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("leaves the file untouched when it cannot do it safely", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<[content: Uint8Array, before: string, after: string, code: string]> = [
        [latin1("x = 1 // caf\xe9\n"), "x = 1", "x = '€'", "FS_NOT_TEXT"],
        // The backslash is the second half of a Shift-JIS character.
        [latin1("\x95\x5c\x83\x8a\n"), "\\", "/", "FS_EDIT_NOT_FOUND"],
        // And so it may be where nobody knows the encoding.
        [latin1("\x81\x5c\n"), "\\", "/", "FS_NOT_TEXT"],
        [latin1("caf\xe9\n"), "caf\uFFFD", "tea", "FS_EDIT_NOT_FOUND"],
        [latin1("\x95\x5c\x8e\xa6\n"), "示", "한", "FS_NOT_TEXT"],
        [Buffer.from("a\na\n"), "a", "b", "FS_AMBIGUOUS_EDIT"],
        [Buffer.from("abc"), "", "b", "INVALID_ARGS"],
        [Buffer.from(""), "", "b", "INVALID_ARGS"],
        [Buffer.from("abc"), "abc", "abc", "INVALID_ARGS"]
      ]
      for (const [content, before, after, code] of cases) {
        const result = yield* on(content, before, after)
        assert.strictEqual(result.code, code)
        assert.strictEqual(result.bytes, Buffer.from(content).toString("latin1"))
      }
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive(
    "makes all edits of a list, each on what the ones before it left, or none and names the one that failed",
    () =>
      Effect.gen(function* () {
        const listed = (content: string | Uint8Array, edits: ReadonlyArray<readonly [string, string, boolean?]>) =>
          Effect.gen(function* () {
            const { at, bytes, put } = yield* folder
            put("f", content)
            yield* read(at("f"))
            const outcome = yield* call("edit", {
              file_path: at("f"),
              edits: edits.map(([old_string, new_string, replace_all]) => ({
                old_string,
                new_string,
                ...(replace_all !== undefined && { replace_all })
              }))
            })
            return { text: textOf(outcome), code: codeOf(outcome), bytes: bytes("f").toString("latin1") }
          })

        const made = yield* listed("a\r\nb\r\nb\r\nc", [
          ["a", "x\ny"],
          ["b", "B", true],
          ["y\nB", "z\nB"]
        ])
        assert.strictEqual(made.bytes, "x\r\nz\r\nB\r\nB\r\nc")
        assert.match(made.text, /: 3 edits, 4 replacements at lines 1, 3, 4, 2$/)
        const gbk = Buffer.from([0x61, 0xd6, 0xd0, 0xce, 0xc4, 0x62])
        assert.strictEqual(
          (yield* listed(gbk, [
            ["a中", "文"],
            ["b", "中"]
          ])).bytes,
          "\xce\xc4\xce\xc4\xd6\xd0"
        )

        const refused: ReadonlyArray<
          [content: string | Uint8Array, edits: ReadonlyArray<readonly [string, string]>, code: string, says: string]
        > = [
          [
            "a\nb\n",
            [
              ["a", "x"],
              ["", "y"]
            ],
            "INVALID_ARGS",
            "edit 2 of 2: old_string is empty"
          ],
          ["", [["", "y"]], "INVALID_ARGS", "edit 1 of 1: old_string is empty"],
          [
            "a\nb\n",
            [
              ["a", "x"],
              ["b", "b"],
              ["c", "d"]
            ],
            "INVALID_ARGS",
            "edit 2 of 3: old_string and new_string are"
          ],
          [
            "a\nb\n",
            [
              ["a", "x"],
              ["a", "y"]
            ],
            "FS_EDIT_NOT_FOUND",
            "edit 2 of 2: "
          ],
          [
            "a\nb\n",
            [
              ["a", "b"],
              ["b", "y"]
            ],
            "FS_AMBIGUOUS_EDIT",
            "edit 2 of 2: "
          ],
          [
            gbk,
            [
              ["a", "x"],
              ["b", "한"],
              ["q", "r"]
            ],
            "FS_EDIT_NOT_FOUND",
            "edit 3 of 3: "
          ],
          [
            latin1("b caf\xe9"),
            [
              ["a", "x"],
              ["café", "€"]
            ],
            "FS_NOT_TEXT",
            "edit 2 of 2: "
          ],
          ["a\n", [], "INVALID_ARGS", "edits is empty"]
        ]
        for (const [content, edits, code, says] of refused) {
          const result = yield* listed(content, edits)
          assert.strictEqual(result.code, code, result.text)
          assert.include(result.text, says)
          assert.strictEqual(result.bytes, Buffer.from(content).toString("latin1"))
        }
      }).pipe(Effect.provide(tools))
  )

  it.scopedLive("takes one edit or a list, and not half of either", () =>
    Effect.gen(function* () {
      const { at, put, text } = yield* folder
      put("f", "a b")
      yield* read(at("f"))
      const list = [{ old_string: "a", new_string: "c" }]
      const cases: ReadonlyArray<[args: object, code: string | undefined]> = [
        [{}, "INVALID_ARGS"],
        [{ old_string: "a" }, "INVALID_ARGS"],
        [{ new_string: "a" }, "INVALID_ARGS"],
        [{ old_string: "b", new_string: "c", edits: list }, "INVALID_ARGS"],
        // Models that fill in everything.
        [{ old_string: "b", new_string: "B", replace_all: false, edits: [] }, undefined],
        [{ old_string: "", new_string: "", edits: list }, undefined]
      ]
      for (const [args, code] of cases) {
        assert.strictEqual(codeOf(yield* call("edit", { file_path: at("f"), ...args })), code, JSON.stringify(args))
      }
      assert.strictEqual(text("f"), "c B")
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("shows what is there when old_string is not", () =>
    Effect.gen(function* () {
      const { text } = yield* on("one\ntwo\nthree\nfour\n", "two\ntree\nfour", "x")
      assert.include(
        text,
        "old_string does not occur in it; the closest part reads:\n1: one\n2: two\n3: three\n4: four"
      )
      assert.include((yield* on("one\n", "nowhere to be seen", "x")).text, "read the file again")
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("wants the file to be read first", () =>
    Effect.gen(function* () {
      const { at, dir, put, text } = yield* folder
      put("f", "a\nb\n")
      const unread = yield* edit(at("f"), "a", "x")
      assert.strictEqual(codeOf(unread), "FS_NOT_OBSERVED")
      assert.strictEqual(text("f"), "a\nb\n")
      // A window is enough, and so is having written it.
      yield* read(at("f"), { limit: 1 })
      assert.isFalse((yield* edit(at("f"), "b", "x")).isError)
      yield* write(at("new"), "a")
      assert.isFalse((yield* edit(at("new"), "a", "b")).isError)
      assert.isFalse((yield* edit(at("new"), "b", "c")).isError)
      const missing = yield* edit(at("none"), "a", "b")
      assert.strictEqual(codeOf(missing), "FS_NOT_FOUND")
      assert.strictEqual(codeOf(yield* edit(dir, "a", "b")), "FS_NOT_REGULAR_FILE")
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("goes by content, not by date, and says what changed", () =>
    Effect.gen(function* () {
      const { at, put, text } = yield* folder
      put("f", "a\nb\nc\n")
      yield* read(at("f"))
      NodeFs.utimesSync(at("f"), 1, 1)
      assert.isFalse((yield* edit(at("f"), "b", "B")).isError)

      put("f", "a\nB\nchanged\n")
      const stale = yield* edit(at("f"), "a\nB\nc", "x")
      assert.strictEqual(codeOf(stale), "FS_STALE_VERSION")
      assert.include(textOf(stale), "1: a\n2: B\n3: changed")
      assert.strictEqual(text("f"), "a\nB\nchanged\n")
      // Having been shown the change, the model may go on.
      assert.isFalse((yield* edit(at("f"), "changed", "seen")).isError)
      assert.strictEqual(text("f"), "a\nB\nseen\n")
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("edits of one file at the same time all arrive", () =>
    Effect.gen(function* () {
      const { at, put, text } = yield* folder
      const words = Array.from({ length: 12 }, (_, i) => `word${i}.`)
      put("f", words.join("\n"))
      yield* read(at("f"))
      NodeFs.symlinkSync("f", at("alias"))
      const outcomes = yield* Effect.forEach(
        words,
        (word, i) => edit(at(i % 2 === 0 ? "f" : "alias"), word, `done${i}.`),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(outcomes.filter(({ isError }) => isError).map(textOf), [])
      assert.strictEqual(text("f"), words.map((_, i) => `done${i}.`).join("\n"))
    }).pipe(Effect.provide(tools))
  )
})
