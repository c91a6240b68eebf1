import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as fc from "effect/FastCheck"
import iconv from "iconv-lite"
import * as TextFile from "../src/TextFile.ts"

const open = (bytes: Uint8Array) => Effect.either(TextFile.open(bytes))

const encoded = (text: string, encoding: string) => iconv.encode(text, encoding)

describe("TextFile", () => {
  it.effect("gives every byte back, whatever they are", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(
          fc.uint8Array({ maxLength: 200 }),
          fc.constantFrom("", "efbbbf", "fffe", "feff"),
          async (body, mark) => {
            const bytes = Buffer.concat([Buffer.from(mark, "hex"), body])
            const file = await Effect.runPromise(open(bytes))
            if (Either.isRight(file)) assert.isTrue(bytes.equals(TextFile.bytesOf(file.right, file.right.units)))
          }
        )
      )
    )
  )

  it.effect("knows the encoding by the mark, UTF-8 by its validity, and others where the bytes leave no doubt", () =>
    Effect.gen(function* () {
      const korean = "// 파일을 열 수 없습니다\n"
      const cases: ReadonlyArray<[bytes: Buffer, encoding: TextFile.Encoding, text: string]> = [
        [Buffer.from("héllo"), "utf-8", "héllo"],
        [Buffer.from("\uFEFFusing"), "utf-8", "using"],
        [Buffer.from("\uFEFFgrün\r\n", "utf16le"), "utf-16le", "grün\r\n"],
        [Buffer.from("\uFEFFgrün", "utf16le").swap16(), "utf-16be", "grün"],
        [Buffer.from("const x = 1;\n// caf\xe9\n", "latin1"), "iso-8859-1", "const x = 1;\n// café\n"],
        [encoded("Größe 5° ½ »ja«, été à Évian", "latin1"), "iso-8859-1", "Größe 5° ½ »ja«, été à Évian"],
        [encoded("it’s “quoted” – 5 €\n", "windows-1252"), "windows-1252", "it’s “quoted” – 5 €\n"],
        [encoded("it’s\n", "windows-1252"), "windows-1252", "it’s\n"],
        [Buffer.from([0xd6, 0xd0, 0xce, 0xc4]), "gb18030", "中文"],
        [encoded("x = 1 // 你好\n", "gb18030"), "gb18030", "x = 1 // 你好\n"],
        [encoded("// 打开文件失败，请检查路径\n", "gb18030"), "gb18030", "// 打开文件失败，请检查路径\n"],
        [encoded("// 開啟檔案失敗，請檢查路徑\n", "cp950"), "big5", "// 開啟檔案失敗，請檢查路徑\n"],
        [encoded("// ファイルを開けません\nint x;", "cp932"), "shift_jis", "// ファイルを開けません\nint x;"],
        [encoded("表示", "cp932"), "shift_jis", "表示"],
        [encoded("// ファイルを開けません\n", "euc-jp"), "euc-jp", "// ファイルを開けません\n"],
        [encoded(korean, "euc-kr"), "euc-kr", korean],
        [encoded('"開く" 値', "cp932"), "shift_jis", '"開く" 値'],
        [encoded("l’été – «à»", "windows-1252"), "windows-1252", "l’été – «à»"],
        // In doubt.
        [encoded("// žluťoučký", "windows-1250"), "unknown", "// \uFFFDlu\uFFFDou\uFFFDk\uFFFD"],
        [encoded("// Café élève", "cp437"), "unknown", "// Caf\uFFFD \uFFFDl\uFFFDve"],
        [encoded("中文", "cp950"), "unknown", "\uFFFD\uFFFD\uFFFD\uFFFD"],
        [encoded("Привет, мир", "koi8-r"), "unknown", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD, \uFFFD\uFFFD\uFFFD"],
        [encoded("ﾃｽﾄ", "cp932"), "unknown", "ý\uFFFD"],
        [Buffer.from("\xef\xbb\xbfcaf\xe9", "latin1"), "unknown", "caf\uFFFD"],
        [Buffer.from([0x61, 0xff, 0x62]), "iso-8859-1", "aÿb"],
        [Buffer.from([0x61, 0x20, 0xff, 0x0a]), "unknown", "a \uFFFD\n"],
        [Buffer.from([0x61, 0x81, 0x0a]), "unknown", "a\uFFFD\n"],
        [Buffer.alloc(0), "utf-8", ""]
      ]
      for (const [bytes, encoding, text] of cases) {
        const file = yield* TextFile.open(bytes)
        assert.deepStrictEqual([file.encoding, TextFile.textOf(file, file.units)], [encoding, text])
      }
    })
  )

  it.effect(
    "judges large files by their beginning, asks all of them for every byte, and very large ones for nothing",
    () =>
      Effect.gen(function* () {
        const line = encoded("x = 1 // 中文\n", "gb18030")
        const lines = (count: number) => Buffer.concat(Array.from({ length: count }, () => line))
        const encodingOf = (bytes: Uint8Array) => Effect.map(TextFile.open(bytes), ({ encoding }) => encoding)
        assert.strictEqual(yield* encodingOf(lines(40_000)), "gb18030")
        assert.strictEqual(yield* encodingOf(Buffer.concat([lines(40_000), Buffer.of(0xff, 0x0a)])), "unknown")
        assert.strictEqual(yield* encodingOf(lines((9 * 1024 * 1024) / line.length)), "unknown")
      })
  )

  it.effect("refuses what is no text", () =>
    Effect.gen(function* () {
      const refused = [
        Buffer.from("ELF\0\0"),
        Buffer.from("fffe0000610000", "hex"),
        Buffer.from("0000feff", "hex"),
        Buffer.from("fffe61", "hex")
      ]
      for (const bytes of refused) assert.isTrue(Either.isLeft(yield* open(bytes)), bytes.toString("hex"))
    })
  )
})
