import { assert, describe, it } from "@effect/vitest"
import { PlainText } from "../src/TerminalBash/PlainText.ts"
import type { Shown } from "../src/TerminalBash/PlainText.ts"
import { Scrollback } from "../src/TerminalBash/Scrollback.ts"

const encoder = new TextEncoder()

/** What is shown of chunks, text that belongs together in one piece. */
const shown = (chunks: ReadonlyArray<Uint8Array>, max = 1000): ReadonlyArray<string> => {
  const plain = new PlainText(max)
  const all: Array<string> = []
  let last: Shown["kind"] | undefined
  for (const one of chunks.flatMap((chunk) => plain.push(chunk))) {
    const text = one.kind === "text" ? one.text : `<${one.payload}>`
    if (one.kind === "text" && last === "text") all.push(`${all.pop()}${text}`)
    else all.push(text)
    last = one.kind
  }
  return all
}

const rows: ReadonlyArray<readonly [raw: string, expected: ReadonlyArray<string>]> = [
  ["plain\r\ntext\r\n.", ["plain\ntext\n."]],
  ["10%\r20%\r\r\n.", ["10%\n20%\n."]],
  ["\x1b[31mred\x1b[0m \x1b[1;38;5;2mx\x1b[K\x1b[?25h", ["red x"]],
  [
    "a\x1b]0;title\x07b\x1b]133;D;0;n\x07c\x1b]8;;http://x\x1b\\d",
    ["a", "<0;title>", "b", "<133;D;0;n>", "c", "<8;;http://x>", "d"]
  ],
  ["a\x1bPq#0;2;0\x1b\\b\x1b^x\x1b\\c\x1b_y\x07d", ["abcd"]],
  ["a\x1b(Bb\x1b=c\x1b7d\x1bMe\x1b#8f", ["abcdef"]],
  ["bell\x07 back\x08space\x00 tab\t", ["bell backspace tab\t"]],
  ["é 中 🎉\x1b[0m ü", ["é 中 🎉 ü"]]
]

describe("the text of a terminal", () => {
  for (const [raw, expected] of rows) {
    it(`is plain, wherever it is cut: ${JSON.stringify(raw)}`, () => {
      const bytes = encoder.encode(raw)
      assert.deepStrictEqual(shown([bytes]), expected)
      for (let at = 0; at <= bytes.length; at++) {
        assert.deepStrictEqual(shown([bytes.subarray(0, at), bytes.subarray(at)]), expected, `cut at ${at}`)
      }
      assert.deepStrictEqual(shown([...bytes].map((byte) => Uint8Array.of(byte))), expected)
    })
  }

  it("waits for the end of a sequence within a bound only", () => {
    const endless = encoder.encode(`\x1b]0;${"x".repeat(5000)}`)
    const plain = new PlainText(1000)
    const text = [...plain.push(endless), ...plain.push(encoder.encode("y"))]
    assert.match(text.map((one) => (one.kind === "text" ? one.text : "")).join(""), /x{5000}y$/)
  })
})

describe("a scrollback", () => {
  it("gives pages, counted from the newest line", () => {
    const lines = new Scrollback(100, 10_000)
    assert.deepStrictEqual(lines.page(0, 10, 1000), { text: "", from: 0, to: 0, total: 0 })
    lines.push("one\ntwo\nth")
    lines.push("ree")
    assert.deepStrictEqual(lines.page(0, 2, 1000), { text: "two\nthree", from: 2, to: 3, total: 3 })
    assert.deepStrictEqual(lines.page(1, 1, 1000), { text: "two", from: 2, to: 2, total: 3 })
    assert.deepStrictEqual(lines.page(9, 1, 1000), { text: "", from: 1, to: 0, total: 3 })
    assert.deepStrictEqual(lines.page(0, 10, 6), { text: "three", from: 3, to: 3, total: 3 })
  })

  it("forgets the oldest, by lines and by bytes, and goes on counting", () => {
    const few = new Scrollback(10, 1_000_000)
    for (let n = 1; n <= 20_000; n++) few.push(`${n}\n`)
    assert.deepStrictEqual(few.page(0, 100, 1000), {
      text: Array.from({ length: 10 }, (_, n) => n + 19_991).join("\n"),
      from: 19_991,
      to: 20_000,
      total: 20_000
    })
    const small = new Scrollback(1_000_000, 50_000)
    for (let n = 0; n < 100; n++) small.push("x".repeat(10_000))
    small.push("\nlast\n")
    assert.isBelow(small.page(1, 1, 1_000_000).text.length, 70_000)
    assert.strictEqual(small.page(0, 1, 100).text, "last")
  })
})
