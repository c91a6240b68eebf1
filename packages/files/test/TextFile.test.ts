import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as fc from "effect/FastCheck"
import * as TextFile from "../src/TextFile.ts"

const open = (bytes: Uint8Array) => Either.getOrThrow(TextFile.open(bytes))

describe("TextFile", () => {
  it("gives every byte back, whatever they are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom("", "efbbbf", "fffe", "feff"), (body, mark) => {
        const bytes = Buffer.concat([Buffer.from(mark, "hex"), body])
        Either.map(TextFile.open(bytes), (file) => {
          assert.isTrue(bytes.equals(TextFile.bytesOf(file, file.units)))
        })
      })
    )
  })

  it("knows the encoding by the mark, and UTF-8 by its validity", () => {
    const cases: ReadonlyArray<[Buffer, TextFile.Encoding, string]> = [
      [Buffer.from("héllo"), "utf-8", "héllo"],
      [Buffer.from("\uFEFFusing"), "utf-8", "using"],
      [Buffer.from("\uFEFFgrün\r\n", "utf16le"), "utf-16le", "grün\r\n"],
      [Buffer.from("\uFEFFgrün", "utf16le").swap16(), "utf-16be", "grün"],
      [Buffer.from("caf\xe9", "latin1"), "unknown", "caf\uFFFD"],
      [Buffer.from([0xd6, 0xd0, 0xce, 0xc4]), "unknown", "\uFFFD\uFFFD\uFFFD\uFFFD"],
      [Buffer.alloc(0), "utf-8", ""]
    ]
    for (const [bytes, encoding, text] of cases) {
      const file = open(bytes)
      assert.strictEqual(file.encoding, encoding)
      assert.strictEqual(TextFile.textOf(encoding, file.units), text)
    }
  })

  it("refuses what is no text", () => {
    const refused = [
      Buffer.from("ELF\0\0"),
      Buffer.from("fffe0000610000", "hex"),
      Buffer.from("0000feff", "hex"),
      Buffer.from("fffe61", "hex")
    ]
    for (const bytes of refused) assert.isTrue(Either.isLeft(TextFile.open(bytes)), bytes.toString("hex"))
  })
})
