import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as NodeFs from "node:fs"
import { codeOf, folder, read, textOf, tools, write } from "./support.ts"

describe("WriteTool", () => {
  it.scopedLive("creates a file with its folders, and replaces it knowingly", () =>
    Effect.gen(function* () {
      const { at, text } = yield* folder
      const path = at("a/b/new.txt")
      assert.strictEqual(
        textOf(yield* write(path, "one\ntwo\n")),
        `<path>${path}</path>\n<type>file</type>\n<content>\n(created, 2 lines)\n</content>`
      )
      assert.include(textOf(yield* write(path, "$& $1")), "(updated, 1 line)")
      assert.strictEqual(text("a/b/new.txt"), "$& $1")
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("follows the gate through the life of a file", () =>
    Effect.gen(function* () {
      const { at, put, text } = yield* folder
      const path = at("f")
      put("f", "v0\n")
      assert.strictEqual(codeOf(yield* write(path, "x")), "FS_NOT_OBSERVED")
      yield* read(path)
      assert.isFalse((yield* write(path, "v1\n")).isError)
      assert.isFalse((yield* write(path, "v2\n")).isError)
      // As long as all of it can be shown, the refusal is a reading too.
      put("f", "short\n")
      const short = yield* write(path, "v3\n")
      assert.strictEqual(codeOf(short), "FS_STALE_VERSION")
      assert.include(textOf(short), "1: short")
      assert.isFalse((yield* write(path, "v3\n")).isError)
      put("f", "long\n".repeat(100))
      assert.strictEqual(codeOf(yield* write(path, "v4\n")), "FS_STALE_VERSION")
      assert.strictEqual(codeOf(yield* write(path, "v4\n")), "FS_STALE_VERSION")
      yield* read(path)
      assert.isFalse((yield* write(path, "v4\n")).isError)
      NodeFs.rmSync(path)
      assert.strictEqual(codeOf(yield* write(path, "v5\n")), "FS_STALE_VERSION")
      assert.isFalse((yield* write(path, "v5\n")).isError)
      NodeFs.rmSync(path)
      assert.strictEqual(codeOf(yield* read(path)), "FS_NOT_FOUND")
      assert.isFalse((yield* write(path, "v6\n")).isError)
      assert.strictEqual(text("f"), "v6\n")
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("keeps mark, encoding and permissions of what it replaces", () =>
    Effect.gen(function* () {
      const { at, bytes, put } = yield* folder
      const replaced = (name: string, before: Uint8Array, content: string) =>
        Effect.gen(function* () {
          put(name, before)
          NodeFs.chmodSync(at(name), 0o751)
          yield* read(at(name))
          const outcome = yield* write(at(name), content)
          assert.strictEqual(NodeFs.statSync(at(name)).mode & 0o777, 0o751)
          return { code: codeOf(outcome), text: textOf(outcome), bytes: bytes(name) }
        })
      const mark = yield* replaced("bom", Buffer.from("\uFEFFold"), "new €")
      assert.strictEqual(mark.bytes.toString(), "\uFEFFnew €")
      const given = yield* replaced("bom2", Buffer.from("\uFEFFold"), "\uFEFFnew")
      assert.strictEqual(given.bytes.toString(), "\uFEFFnew")
      const wide = yield* replaced("wide", Buffer.from("\uFEFFalt", "utf16le"), "grün")
      assert.strictEqual(wide.bytes.toString("utf16le"), "\uFEFFgrün")
      const ascii = yield* replaced("latin", Buffer.from("caf\xe9", "latin1"), "tea")
      assert.strictEqual(ascii.bytes.toString("latin1"), "tea")
      const latin = yield* replaced("latin1", Buffer.from("caf\xe9", "latin1"), "thé")
      assert.strictEqual(latin.bytes.toString("latin1"), "thé")
      const gbk = yield* replaced("gbk", Buffer.from([0xd6, 0xd0, 0xce, 0xc4]), "文中\r\n")
      assert.strictEqual(gbk.bytes.toString("hex"), "cec4d6d00d0a")
      const refused = yield* replaced("latin2", Buffer.from("caf\xe9", "latin1"), "café 5 €")
      assert.strictEqual(refused.code, "FS_NOT_TEXT")
      assert.include(refused.text, 'is encoded in iso-8859-1, which has no "€"')
      assert.strictEqual(refused.bytes.toString("latin1"), "caf\xe9")
      const unknown = yield* replaced("unknown", Buffer.from([0x61, 0x81]), "é")
      assert.strictEqual(unknown.code, "FS_NOT_TEXT")
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("does not replace what it could not have read", () =>
    Effect.gen(function* () {
      const { at, bytes, dir, put } = yield* folder
      put("image", Buffer.from([0x89, 0x50, 0, 1]))
      const refused = yield* write(at("image"), "text")
      assert.strictEqual(codeOf(refused), "FS_NOT_TEXT")
      assert.include(textOf(refused), "delete it first")
      assert.strictEqual(bytes("image").length, 4)
      assert.strictEqual(codeOf(yield* write(dir, "text")), "FS_NOT_REGULAR_FILE")
      assert.strictEqual(codeOf(yield* write(at("image/below"), "text")), "FS_NOT_DIRECTORY")
    }).pipe(Effect.provide(tools))
  )
})
