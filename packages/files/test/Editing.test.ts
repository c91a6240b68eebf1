// What people have lost to editing tools, one test for each way: at the level of the tools, on real files, byte for byte.
import * as FsLocal from "@dsh/world/FsLocal"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as NodeFs from "node:fs"
import * as GrepTool from "../src/GrepTool.ts"
import { call, codeOf, edit, folder, read, textOf, tools, write } from "./support.ts"

const world = GrepTool.layer.pipe(
  Layer.provide(Layer.merge(FsLocal.layer, SubprocessLocal.layer())),
  Layer.provideMerge(tools)
)

const latin1 = (text: string) => Buffer.from(text, "latin1")

/** Reads a file with this content and edits it; gives what is there then, or the code of the refusal. */
const after = (content: string | Uint8Array, old_string: string, new_string: string, args: object = {}) =>
  Effect.gen(function* () {
    const { at, bytes, put } = yield* folder
    put("f", content)
    yield* read(at("f"))
    const outcome = yield* edit(at("f"), old_string, new_string, args)
    if (!outcome.isError) return bytes("f").toString("latin1")
    assert.isTrue(bytes("f").equals(Buffer.from(content)), "a refusal leaves the file as it was")
    return `${codeOf(outcome)} ${textOf(outcome)}`
  })

describe("editing files", () => {
  it.scopedLive("CRLF: text with LF is found, new lines end like those around, and nothing else is converted", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<[content: string, old_string: string, new_string: string, result: string]> = [
        ["a\r\nb\r\nc", "a\nb", "A\nB", "A\r\nB\r\nc"],
        ["a\r\nb\r\nc", "b", "x\ny", "a\r\nx\r\ny\r\nc"],
        ["a\nb\nc\n", "a\r\nb", "A\r\nB", "A\nB\nc\n"],
        ["a\r\nb\nc\r\nd\n", "b\nc", "B\nC", "a\r\nB\nC\r\nd\n"],
        ["a\r\nb\nc\r\nd\n", "a", "A", "A\r\nb\nc\r\nd\n"],
        ["a\r\nb", "b", "c", "a\r\nc"],
        ["\xef\xbb\xbfa\r\nb\r\n", "a\nb", "A\nB", "\xef\xbb\xbfA\r\nB\r\n"]
      ]
      for (const [content, old_string, new_string, result] of cases) {
        for (const args of [{}, { replace_all: true }, listed(old_string, new_string)]) {
          const [old, replacement] = "edits" in args ? ["", ""] : [old_string, new_string]
          assert.strictEqual(yield* after(latin1(content), old, replacement, args), result)
        }
      }
    }).pipe(Effect.provide(world))
  )

  it.scopedLive(
    "bytes that are not UTF-8 survive edits elsewhere, and read, edit, write and grep agree on what they are",
    () =>
      Effect.gen(function* () {
        const bytes = (hex: string) => Buffer.from(hex.replaceAll(" ", ""), "hex")
        const cases: ReadonlyArray<[name: string, text: Buffer, seen: string, encoding: string, foreign: string]> = [
          ["latin-1", latin1("caf\xe9"), "café", "iso-8859-1", "中"],
          ["GBK", bytes("d6 d0 ce c4"), "中文", "gb18030", "\ud800"],
          ["Shift JIS", bytes("95 5c 8e a6 82 b7 82 e9"), "表示する", "shift_jis", "é"],
          ["EUC-JP", bytes("c9 bd bc a8 a4 b9 a4 eb"), "表示する", "euc-jp", "한"],
          ["EUC-KR", bytes("c6 c4 c0 cf c0 bb"), "파일을", "euc-kr", "é"],
          ["Big5", bytes("b6 7d b1 d2 c0 c9 ae d7 a5 a2 b1 d1"), "開啟檔案失敗", "big5", "한"],
          ["unknown", bytes("81 20 ff"), "\uFFFD \uFFFD", "not valid UTF-8", "é"]
        ]
        for (const [name, text, seen, encoding, foreign] of cases) {
          const { at, dir, put, bytes: now } = yield* folder
          const whole = (code: string) => Buffer.concat([Buffer.from(code), text, Buffer.from("\n")])
          put("f", whole("const x = 1;\n// "))
          const shown = textOf(yield* read(at("f")))
          assert.include(shown, `2: // ${seen}\n`, name)
          assert.include(shown, encoding, name)
          assert.include(textOf(yield* call("grep", { pattern: "^//", path: dir })), `Line 2: // ${seen}`, name)

          assert.isFalse((yield* edit(at("f"), "x = 1", "x = 2")).isError, name)
          assert.isTrue(now("f").equals(whole("const x = 2;\n// ")), name)
          assert.strictEqual(codeOf(yield* edit(at("f"), "x = 2", `x = "${foreign}"`)), "FS_NOT_TEXT", name)
          assert.strictEqual(codeOf(yield* write(at("f"), `"${foreign}"\n`)), "FS_NOT_TEXT", name)
          assert.isTrue(now("f").equals(whole("const x = 2;\n// ")), name)

          if (encoding === "not valid UTF-8") continue
          assert.include(textOf(yield* call("grep", { pattern: seen, path: dir })), "Found 1 match", name)
          assert.isFalse((yield* edit(at("f"), seen, `${seen}${seen}`)).isError, name)
          assert.isTrue(
            now("f").equals(Buffer.concat([whole("const x = 2;\n// ").subarray(0, -1), text, latin1("\n")])),
            name
          )
          assert.isFalse((yield* write(at("f"), `${seen}\n`)).isError, name)
          assert.isTrue(now("f").equals(Buffer.concat([text, latin1("\n")])), name)
        }
      }).pipe(Effect.provide(world))
  )

  it.scopedLive("UTF-16 files stay what they are, and read, edit, write and grep agree on them", () =>
    Effect.gen(function* () {
      for (const encode of [
        (text: string) => Buffer.from(text, "utf16le"),
        (text: string) => Buffer.from(text, "utf16le").swap16()
      ]) {
        const { at, bytes, dir, put } = yield* folder
        put("f", encode("\uFEFFgrün\r\nb\r\n"))
        assert.include(textOf(yield* read(at("f"))), "1: grün\n2: b\n")
        assert.include(textOf(yield* call("grep", { pattern: "grün", path: dir })), "Line 1: grün")
        yield* edit(at("f"), "grün\nb", "中\nb\nc")
        assert.isTrue(bytes("f").equals(encode("\uFEFF中\r\nb\r\nc\r\n")))
        yield* write(at("f"), "😀\n")
        assert.isTrue(bytes("f").equals(encode("\uFEFF😀\n")))
      }
    }).pipe(Effect.provide(world))
  )

  it.scopedLive("a UTF-8 mark is kept by edit and write, not shown, and not needed to match line 1", () =>
    Effect.gen(function* () {
      const marked = "\uFEFFusing X;\nb\n"
      const { at, put, text } = yield* folder
      put("f.cs", marked)
      assert.include(textOf(yield* read(at("f.cs"))), "\n1: using X;\n")
      for (const old_string of ["X", "using X;\nb", "\uFEFFusing X;"]) {
        put("f.cs", marked)
        yield* read(at("f.cs"))
        yield* edit(at("f.cs"), old_string, old_string.replace("X", "Y"))
        assert.strictEqual(text("f.cs"), "\uFEFFusing Y;\nb\n")
      }
      yield* write(at("f.cs"), "using Z;\n")
      assert.strictEqual(text("f.cs"), "\uFEFFusing Z;\n")
    }).pipe(Effect.provide(world))
  )

  it.scopedLive("the replacement is literal, whatever $ is in it", () =>
    Effect.gen(function* () {
      const replacement = 'log("$& $1 $$ $\' $`")'
      for (const args of [{}, { replace_all: true }]) {
        assert.strictEqual(yield* after('log("done")\n', 'log("done")', replacement, args), `${replacement}\n`)
      }
    }).pipe(Effect.provide(world))
  )

  it.scopedLive(
    "whitespace that differs is tolerated in one place, the replacement indented like it, and a choice is refused",
    () =>
      Effect.gen(function* () {
        assert.strictEqual(
          yield* after("\tif a:\n\t\tb()\n", "    if a:\n        b()", "    if a:\n        c()\n        d()"),
          "\tif a:\n\t\tc()\n\t\td()\n"
        )
        assert.strictEqual(yield* after("x = a    b\n", "x = a b", "x = c"), "x = c\n")
        assert.match(
          yield* after("  f()\nx\n    f()\n", "\tf()", "\tg()"),
          /^FS_AMBIGUOUS_EDIT .*up to whitespace 2 times, at lines 1, 3;/
        )
      }).pipe(Effect.provide(world))
  )

  it.scopedLive(
    "an empty old_string or a change that is none is refused, alone or in a list, and nothing is touched",
    () =>
      Effect.gen(function* () {
        const requests: ReadonlyArray<object> = [
          { old_string: "", new_string: "b" },
          { old_string: "", new_string: "b", replace_all: true },
          { old_string: "a", new_string: "a" },
          { edits: [{ old_string: "", new_string: "b" }] },
          {
            edits: [
              { old_string: "a", new_string: "c" },
              { old_string: "", new_string: "b" }
            ]
          }
        ]
        for (const content of ["", "a\n", undefined]) {
          for (const request of requests) {
            const { at, put, text } = yield* folder
            if (content !== undefined) put("f", content)
            yield* read(at("f"))
            assert.strictEqual(codeOf(yield* call("edit", { file_path: at("f"), ...request })), "INVALID_ARGS")
            if (content === undefined) assert.isFalse(NodeFs.existsSync(at("f")))
            else assert.strictEqual(text("f"), content)
          }
        }
      }).pipe(Effect.provide(world))
  )

  it.scopedLive(
    "the content decides whether a file has changed: touching it does not, and a real change is shown once",
    () =>
      Effect.gen(function* () {
        const { at, put, text } = yield* folder
        put("f", "a\nb\nc\n")
        yield* read(at("f"))
        NodeFs.utimesSync(at("f"), new Date(), new Date(0))
        assert.isFalse((yield* edit(at("f"), "a", "A")).isError)
        // Written anew with the same content, by whoever.
        put("g", text("f"))
        NodeFs.renameSync(at("g"), at("f"))
        assert.isFalse((yield* edit(at("f"), "b", "B")).isError)
        // One's own changes need no reading.
        assert.isFalse((yield* edit(at("f"), "B", "BB")).isError)
        // A formatter, or a hook after the edit.
        put("f", "A\n  BB\nc\n")
        const stale = yield* edit(at("f"), "BB", "x")
        assert.strictEqual(codeOf(stale), "FS_STALE_VERSION")
        assert.include(textOf(stale), "2:   BB")
        // Never the same failure twice.
        assert.isFalse((yield* edit(at("f"), "BB", "x")).isError)
        assert.strictEqual(text("f"), "A\n  x\nc\n")
      }).pipe(Effect.provide(world))
  )
})

/** A call with a list instead of one edit. */
const listed = (old_string: string, new_string: string) => ({ edits: [{ old_string, new_string }] })
