import { assert, describe, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import * as LineWindow from "../src/ReadTool/LineWindow.ts"

const limits = { offset: 1, limit: 2000, maxLineLength: 2000, maxBytes: 51_200 }

const over = (pieces: ReadonlyArray<Uint8Array | string>, changed: Partial<LineWindow.Limits> = {}) => {
  const window = LineWindow.make({ ...limits, ...changed })
  for (const piece of pieces) window.push(Buffer.from(piece))
  return window.end()
}

const texts = (window: LineWindow.Window) => window.lines.map(({ text }) => text)

describe("LineWindow", () => {
  it("numbers lines, strips line ends, and counts what it does not show", () => {
    assert.deepStrictEqual(over(["a\r\nb\n\nd"], { offset: 2, limit: 2 }), {
      lines: [
        { number: 2, text: "b" },
        { number: 3, text: "" }
      ],
      totalLines: 4,
      full: false
    })
    assert.strictEqual(over(["a\nb\n"]).totalLines, 2)
    assert.strictEqual(over([]).totalLines, 0)
    assert.deepStrictEqual(over(["a\n"], { offset: 5 }).lines, [])
  })

  it("does not care where the pieces are cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("€", "a", "\n", "\r\n", "🐋"), { maxLength: 60 }),
        fc.nat(8),
        (parts, size) => {
          const bytes = Buffer.from(parts.join(""))
          const pieces: Array<Uint8Array> = []
          for (let at = 0; at < bytes.length; at += size + 1) pieces.push(bytes.subarray(at, at + size + 1))
          assert.deepStrictEqual(over(pieces), over([bytes]))
        }
      )
    )
  })

  it("cuts long lines and says so, without keeping them", () => {
    const window = over(
      Array.from({ length: 1000 }, () => "x".repeat(10_000)),
      { maxLineLength: 10 }
    )
    assert.deepStrictEqual(texts(window), [`${"x".repeat(10)}… (line cut, 10000000 bytes in all)`])
    assert.deepStrictEqual(texts(over(["€".repeat(10)], { maxLineLength: 10 })), ["€".repeat(10)])
  })

  it("ends before the byte limit, but never shows nothing", () => {
    const window = over(["1234\n1234\n1234\n"], { maxBytes: 10 })
    assert.deepInclude(window, { full: true, totalLines: 3 })
    assert.strictEqual(window.lines.length, 2)
    assert.strictEqual(over(["12345678\nx\n"], { maxBytes: 4 }).lines.length, 1)
  })
})
