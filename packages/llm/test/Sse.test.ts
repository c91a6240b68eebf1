import * as Sse from "@dsh/llm/ChatCompletions/Sse"
import { assert, describe, it } from "@effect/vitest"

const parse = (...texts: ReadonlyArray<string>) => {
  const events: Array<string> = []
  const parser = Sse.make((data) => events.push(data))
  for (const text of texts) parser.push(text)
  parser.end()
  return events
}

const everyCut = (text: string, expected: ReadonlyArray<string>) => {
  assert.deepStrictEqual(parse(text), expected)
  assert.deepStrictEqual(parse(...text), expected)
  for (let i = 1; i < text.length; i++) {
    assert.deepStrictEqual(parse(text.slice(0, i), text.slice(i)), expected, `cut at ${i} of ${JSON.stringify(text)}`)
  }
}

describe("Sse", () => {
  const frames = (eol: string) =>
    `: hi${eol}${eol}data: a${eol}${eol}event: x${eol}data:b${eol}id: 1${eol}${eol}data: c${eol}${eol}`

  it.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
    ["CR", "\r"]
  ])("reads %s framing however the reads are cut", (_, eol) => {
    everyCut(frames(eol), ["a", "b", "c"])
  })

  it("takes a read that ends in CR for no event boundary", () => {
    assert.deepStrictEqual(parse("data: a\r", "\ndata: b\r\n\r", "\n"), ["a\nb"])
    assert.deepStrictEqual(parse("data: a\r\n", "\r", "\ndata: b\r\n\r\n"), ["a", "b"])
  })

  it("mixes line ends", () => {
    everyCut("data: a\r\n\ndata: b\n\r\ndata: c\r\rdata: d\n\n", ["a", "b", "c", "d"])
  })

  it("joins the lines of an event", () => {
    everyCut("data: a\ndata\ndata:  b\n\n", ["a\n\n b"])
  })

  it("yields nothing for comments, other fields, blank lines and events without data", () => {
    everyCut(":\n\n: keep-alive\n\n: ping\n\n\nevent: ping\n\nretry: 5\n\ndatum: x\n\nda\n\n", [])
    assert.deepStrictEqual(parse(": ping\ndata: a\n\n"), ["a"])
  })

  it("yields an empty event where data is empty", () => {
    everyCut("data:\n\ndata: \n\ndata\n\n", ["", "", ""])
  })

  it("flushes a last line without an end", () => {
    assert.deepStrictEqual(parse("data: a\n\ndata: b"), ["a", "b"])
    assert.deepStrictEqual(parse("data: a\n"), ["a"])
  })

  it("reads an event much larger than a read", () => {
    const piece = "x".repeat(1000)
    assert.deepStrictEqual(parse("data: ", ...Array.from({ length: 2000 }, () => piece), "\n\n"), [piece.repeat(2000)])
  })
})
