import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as NodeFs from "node:fs"
import * as StrReplaceEditorTool from "../src/StrReplaceEditorTool.ts"
import { call, codeOf, edit, folder, textOf, tools } from "./support.ts"

const world = Layer.provideMerge(StrReplaceEditorTool.layer, tools)

const editor = (command: string, path: string, args: object = {}) =>
  Effect.map(call("str_replace_editor", { command, path, ...args }), (outcome) => ({
    code: codeOf(outcome),
    text: textOf(outcome)
  }))

describe("StrReplaceEditorTool", () => {
  it.scopedLive("views a file or a range of its lines, and refuses ranges that are none", () =>
    Effect.gen(function* () {
      const { at, put } = yield* folder
      put("f", "a\n\tb\nc")
      const header = `${at("f")} (3 lines):`
      const view = (view_range?: ReadonlyArray<number>) =>
        editor("view", at("f"), view_range === undefined ? {} : { view_range })
      const rows = ["     1  a", "     2  \tb", "     3  c"]
      assert.strictEqual((yield* view()).text, [header, ...rows].join("\n"))
      assert.strictEqual((yield* view([2, 2])).text, [header, rows[1]].join("\n"))
      assert.strictEqual((yield* view([2, -1])).text, [header, ...rows.slice(1)].join("\n"))
      const refused: ReadonlyArray<[range: ReadonlyArray<number>, says: RegExp]> = [
        [[0, 2], /begins with 0, and the file has 3 lines/],
        [[4, -1], /begins with 4/],
        [[1, 4], /ends with 4, and the file has 3 lines; -1 is its end/],
        [[3, 2], /ends with 2, before it begins with 3/],
        [[1, -2], /ends with -2/],
        [[1], /two numbers/],
        [[1, 2, 3], /two numbers/]
      ]
      for (const [range, says] of refused) {
        const { code, text } = yield* view(range)
        assert.strictEqual(code, "INVALID_ARGS")
        assert.match(text, says)
      }
      put("trailing", "a\n")
      assert.strictEqual(
        (yield* editor("view", at("trailing"))).text,
        `${at("trailing")} (2 lines):\n     1  a\n     2  `
      )
    }).pipe(Effect.provide(world))
  )

  it.scopedLive("shows what is in a folder, two levels deep, and leaves out what nobody wrote", () =>
    Effect.gen(function* () {
      const { at, dir } = yield* folder
      for (const name of ["b/c/d", "node_modules/x", "__pycache__", ".git"])
        NodeFs.mkdirSync(at(name), { recursive: true })
      for (const name of ["a.txt", "b/z.txt", "b/c/d/deep", ".hidden", "\u{1f40b}", "\ufb01"])
        NodeFs.writeFileSync(at(name), "")
      NodeFs.symlinkSync("a.txt", at("link"))
      const { text } = yield* editor("view", dir)
      const rows = ["f\ta.txt", "d\tb", "d\tb/c", "f\tb/z.txt", "?\tlink", "f\t\ufb01", "f\t\u{1f40b}"]
      assert.deepStrictEqual(
        text.split("\n").slice(1),
        rows.map((row) => row.replace("\t", `\t${dir}/`))
      )
      assert.strictEqual((yield* editor("view", dir, { view_range: [1, 2] })).code, "INVALID_ARGS")
    }).pipe(Effect.provide(world))
  )

  it.scopedLive("keeps the beginning of what is too long", () =>
    Effect.gen(function* () {
      const { at, put } = yield* folder
      put("f", "x".repeat(500))
      const layer = Layer.provideMerge(StrReplaceEditorTool.layerWith({ maxOutputChars: 100 }), tools)
      const { text } = yield* Effect.provide(editor("view", at("f")), layer)
      assert.match(
        text,
        /^.{20,}\n {5}1 {2}x+\n<response clipped> \(\d+ more characters; view a part with view_range\)$/
      )
      assert.isBelow(text.length, 200)
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("creates files with the folders they need, and never replaces one", () =>
    Effect.gen(function* () {
      const { at, text } = yield* folder
      assert.strictEqual((yield* editor("create", at("a/b/f"), { file_text: "x\n" })).text, `created ${at("a/b/f")}`)
      assert.strictEqual(text("a/b/f"), "x\n")
      assert.strictEqual((yield* editor("create", at("a/b/f"), { file_text: "y" })).code, "FS_NOT_OBSERVED")
      assert.strictEqual((yield* editor("create", at("a/b"), { file_text: "y" })).code, "FS_NOT_REGULAR_FILE")
      assert.strictEqual((yield* editor("create", at("g"))).code, "INVALID_ARGS")
      assert.strictEqual(text("a/b/f"), "x\n")
      // It has been seen by being made.
      assert.isUndefined((yield* editor("str_replace", at("a/b/f"), { old_str: "x", new_str: "z" })).code)
    }).pipe(Effect.provide(world))
  )

  it.scopedLive("replaces exactly what is there, once, byte for byte", () =>
    Effect.gen(function* () {
      const { at, bytes, put } = yield* folder
      const gbk = Buffer.from([0x61, 0xd6, 0xd0, 0xce, 0xc4])
      const cases: ReadonlyArray<
        [content: string | Buffer, old_str: string, new_str: string | undefined, result: string | RegExp]
      > = [
        ["a\r\nb\r\n", "a\r\nb", "$& x", "$& x\r\n"],
        ["a b\n", " b", undefined, "a\n"],
        ["\uFEFFa\n", "a", "b", "\uFEFFb\n"],
        [gbk, "中", "文", "a\xce\xc4\xce\xc4"],
        ["a\r\nb\r\n", "a\nb", "x", /FS_EDIT_NOT_FOUND.*lines of this file end with \\r\\n/],
        ["\tabc\n", "    abc", "x", /FS_EDIT_NOT_FOUND.*the closest part reads:/],
        ["a\nb\na\n", "a", "x", /FS_AMBIGUOUS_EDIT.*2 times, at lines 1, 3;/],
        ["aaa\n", "aa", "x", /FS_AMBIGUOUS_EDIT/],
        ["a\n", "", "x", /INVALID_ARGS/],
        [gbk, "a", "😀\u{10ffff}", "\x94\x39\xfc\x36\xe3\x32\x9a\x35\xd6\xd0\xce\xc4"],
        [Buffer.from("caf\xe9", "latin1"), "c", "€", /FS_NOT_TEXT.*iso-8859-1/]
      ]
      for (const [content, old_str, new_str, result] of cases) {
        put("f", content)
        yield* editor("view", at("f"))
        const { code, text } = yield* editor("str_replace", at("f"), {
          old_str,
          ...(new_str !== undefined && { new_str })
        })
        if (typeof result === "string") {
          const encoding = typeof content === "string" ? "utf8" : "latin1"
          assert.strictEqual(bytes("f").toString(encoding), result, text)
        } else {
          assert.match(`${code} ${text}`.replaceAll("\n", " "), result)
          assert.isTrue(bytes("f").equals(Buffer.from(content)))
        }
      }
    }).pipe(Effect.provide(world))
  )

  it.scopedLive("inserts lines after a line, from the beginning to the end", () =>
    Effect.gen(function* () {
      const { at, put, text } = yield* folder
      const cases: ReadonlyArray<[content: string, after: number, added: string, result: string | undefined]> = [
        ["a\nb\n", 0, "x", "x\na\nb\n"],
        ["a\nb\n", 1, "x\ny", "a\nx\ny\nb\n"],
        ["a\nb\n", 2, "x", "a\nb\nx\n"],
        ["a\nb", 2, "x", "a\nb\nx"],
        ["a\r\nb\r\n", 1, "x\ny", "a\r\nx\r\ny\r\nb\r\n"],
        ["a\r\nb", 2, "x\ny", "a\r\nb\r\nx\r\ny"],
        ["", 0, "x", "x\n"],
        ["a\nb\n", 4, "x", undefined],
        ["a\nb\n", -1, "x", undefined]
      ]
      for (const [content, insert_line, new_str, result] of cases) {
        put("f", content)
        yield* editor("view", at("f"))
        const { code } = yield* editor("insert", at("f"), { insert_line, new_str })
        assert.strictEqual(code, result === undefined ? "INVALID_ARGS" : undefined)
        assert.strictEqual(text("f"), result ?? content)
      }
      assert.strictEqual((yield* editor("insert", at("f"), { new_str: "x" })).code, "INVALID_ARGS")
      assert.strictEqual((yield* editor("insert", at("f"), { insert_line: 0 })).code, "INVALID_ARGS")
    }).pipe(Effect.provide(world))
  )

  it.scopedLive("changes only what was seen, by whichever tool, and takes absolute paths only", () =>
    Effect.gen(function* () {
      const { at, put, text } = yield* folder
      put("f", "a\n")
      assert.strictEqual(
        (yield* editor("str_replace", at("f"), { old_str: "a", new_str: "b" })).code,
        "FS_NOT_OBSERVED"
      )
      assert.strictEqual((yield* editor("insert", at("f"), { insert_line: 0, new_str: "b" })).code, "FS_NOT_OBSERVED")
      yield* editor("view", at("f"), { view_range: [1, 1] })
      assert.isFalse((yield* edit(at("f"), "a", "b")).isError)
      assert.isUndefined((yield* editor("str_replace", at("f"), { old_str: "b", new_str: "c" })).code)
      put("f", "other\n")
      const stale = yield* editor("str_replace", at("f"), { old_str: "c", new_str: "d" })
      assert.strictEqual(stale.code, "FS_STALE_VERSION")
      assert.include(stale.text, "1: other")
      assert.strictEqual(text("f"), "other\n")

      const missing = yield* editor("view", at("none"))
      assert.strictEqual(missing.code, "FS_NOT_FOUND")
      assert.strictEqual((yield* editor("str_replace", at("none"), { old_str: "a" })).code, "FS_NOT_FOUND")
      const relative = yield* editor("view", "src/f")
      assert.strictEqual(relative.code, "INVALID_ARGS")
      assert.match(relative.text, /it has to begin with \/; is \/.*src\/f meant\?/)
      put("bin", Buffer.from([0, 1]))
      assert.strictEqual((yield* editor("view", at("bin"))).code, "FS_NOT_TEXT")
    }).pipe(Effect.provide(world))
  )
})
