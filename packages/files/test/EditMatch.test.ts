import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as fc from "effect/FastCheck"
import * as EditMatch from "../src/EditMatch.ts"

const edit = (text: string, oldText: string, newText: string, replaceAll = false) =>
  Either.map(EditMatch.plan(text, { oldText, newText, replaceAll }), (plan) => EditMatch.apply(text, plan))

const edited = (...args: Parameters<typeof edit>) => Either.getOrThrowWith(edit(...args), (error) => error)
const refusal = (...args: Parameters<typeof edit>) => {
  const { code, message } = Either.getOrThrow(Either.flip(edit(...args)))
  return { code, message }
}

describe("EditMatch", () => {
  it("replaces the one occurrence, or all of them", () => {
    assert.strictEqual(edited("a b c", "b", "x"), "a x c")
    assert.strictEqual(edited("a b a", "a", "x", true), "x b x")
    assert.strictEqual(edited("aaaa", "aa", "b", true), "bb")
    assert.strictEqual(edited("a b c", " b", ""), "a c")
    assert.strictEqual(edited("only", "only", ""), "")
  })

  it("takes the replacement literally", () => {
    const hostile = "$& $1 $$ $' $` \\n \\1"
    assert.strictEqual(edited('log("done")', "done", hostile), `log("${hostile}")`)
    assert.strictEqual(edited("x y x", "x", hostile, true), `${hostile} y ${hostile}`)
    assert.strictEqual(edited("\tif  (a)", "if (a)", hostile), `\t${hostile}`)
  })

  it("refuses what has no meaning", () => {
    assert.strictEqual(refusal("a", "", "b").code, "INVALID_ARGS")
    assert.strictEqual(refusal("", "", "").code, "INVALID_ARGS")
    assert.strictEqual(refusal("a", "a", "a").code, "INVALID_ARGS")
    assert.strictEqual(refusal("a\r\n", "a\r\n", "a\n").code, "INVALID_ARGS")
    assert.strictEqual(refusal("a", "b", "c").code, "FS_EDIT_NOT_FOUND")
    assert.strictEqual(refusal("abc", " ", "c").code, "FS_EDIT_NOT_FOUND")
  })

  it("lists the lines when there is a choice", () => {
    assert.deepStrictEqual(refusal("x\ny\nx\r\nx", "x", "z"), {
      code: "FS_AMBIGUOUS_EDIT",
      message:
        "old_string occurs 3 times, at lines 1, 3, 4; add surrounding lines to make it unique, or set replace_all to change all of them"
    })
    assert.include(refusal("x\ny\nx\ny\nx\n", "x\ny\nx\n", "z\n").message, "occurs 2 times, at lines 1, 3;")
    assert.include(refusal("x\n".repeat(50), "x", "z").message, "lines 1, 2, 3, 4")
    assert.include(refusal("x\n".repeat(50), "x", "z").message, "20 and 30 more")
  })

  describe("line ends", () => {
    it("do not matter for finding, and stay as they are", () => {
      assert.strictEqual(edited("a\r\nb\r\nc", "a\nb", "A\nB"), "A\r\nB\r\nc")
      assert.strictEqual(edited("a\r\nb\r\nc", "a\nb", "A\nB", true), "A\r\nB\r\nc")
      assert.strictEqual(edited("a\nb\nc", "a\r\nb", "A\r\nB"), "A\nB\nc")
      assert.strictEqual(edited("a\r\n", "a\n", "b\n"), "b\r\n")
      assert.strictEqual(edited("a\r\nb", "b", "c"), "a\r\nc")
    })

    it("of new lines are those of the neighbourhood", () => {
      assert.strictEqual(edited("a\r\nb\r\n", "b", "b\nc\nd"), "a\r\nb\r\nc\r\nd\r\n")
      assert.strictEqual(edited("a\r\nb", "b", "b\nc"), "a\r\nb\r\nc")
      assert.strictEqual(edited("one", "one", "one\ntwo"), "one\ntwo")
      assert.strictEqual(edited("w\r\nx\ny\nz", "y", "y\nY"), "w\r\nx\ny\nY\nz")
    })

    it("of a mixed file survive wherever the text is the same", () => {
      assert.strictEqual(edited("a\r\nb\nc\r\nd", "a\nb\nc\nd", "a\nb\nX\nc\nd"), "a\r\nb\nX\r\nc\r\nd")
      assert.strictEqual(edited("a\r\nb\nc\r\n", "b\nc", "B\nC"), "a\r\nB\nC\r\n")
      assert.strictEqual(edited("a\nq\r\na\n", "a\n", "b\n", true), "b\nq\r\nb\n")
    })

    it("are left alone outside of the change, whatever it is", () => {
      const line = fc.constantFrom("a", "b", "ab", "", "x y")
      const file = fc.array(fc.tuple(line, fc.constantFrom("\n", "\r\n")), { minLength: 1, maxLength: 12 })
      fc.assert(
        fc.property(file, fc.nat(11), fc.nat(3), fc.array(line, { maxLength: 4 }), (lines, at, count, put) => {
          const from = at % lines.length
          const to = Math.min(lines.length, from + 1 + count)
          const text = lines.map((pair) => pair.join("")).join("")
          const oldText = lines
            .slice(from, to)
            .map(([content]) => `${content}\n`)
            .join("")
          const newText = put.map((content) => `${content}!\n`).join("")
          const result = edit(text, oldText, newText)
          if (Either.isLeft(result)) return
          const rest = (part: typeof lines) => part.map((pair) => pair.join("")).join("")
          assert.isTrue(result.right.startsWith(rest(lines.slice(0, from))))
          assert.isTrue(result.right.endsWith(rest(lines.slice(to))))
          assert.strictEqual(
            result.right.replaceAll("\r\n", "\n"),
            text.replaceAll("\r\n", "\n").replace(oldText, () => newText)
          )
        })
      )
    })
  })

  describe("other whitespace", () => {
    it("is accepted in one place, and the replacement indented like it", () => {
      const file = "class A {\n\trun() {\n\t\tgo(1)\n\t\tstop()\n\t}\n}\n"
      assert.strictEqual(
        edited(file, "    run() {\n        go(1)\n", "    run() {\n        if (x) {\n            go(2)\n        }\n"),
        "class A {\n\trun() {\n\t\tif (x) {\n\t\t\tgo(2)\n\t\t}\n\t\tstop()\n\t}\n}\n"
      )
      assert.strictEqual(edited("x = a    b\n", "a b", "c d"), "x = c d\n")
      assert.strictEqual(edited("f(a,\tb)", "f(a,  b)", "f(b, a)"), "f(b, a)")
    })

    it("keeps lines that are only repeated as the file has them", () => {
      assert.strictEqual(
        edited("  a =    1  \n  b = 2\n  c =\t3\n", "a = 1\nb = 2\nc = 3", "a = 1\nb = 20\nc = 3"),
        "  a =    1  \n  b = 20\n  c =\t3\n"
      )
    })

    it("follows indentation that is shifted, of another width, or goes back", () => {
      assert.strictEqual(
        edited("      if a:\n        b()\n", "  if a:\n    b()", "  if a:\n    if c:\n      b()"),
        "      if a:\n        if c:\n          b()\n"
      )
      assert.strictEqual(
        edited("    if a:\n        b()\n", "  if a:\n    b()\n", "  if a:\n    if c:\n      b()\n"),
        "    if a:\n        if c:\n            b()\n"
      )
      assert.strictEqual(
        edited(
          "\t\tif a:\n\t\t\tb()\n",
          "        if a:\n            b()\n",
          "        if a:\n            b()\n    c()\n"
        ),
        "\t\tif a:\n\t\t\tb()\n\tc()\n"
      )
      // The match begins behind the indentation.
      assert.strictEqual(
        edited("\tif a:\n\t\tb()\n", "if a:\n    b()", "if a:\n    b()\n    c()\nd()"),
        "\tif a:\n\t\tb()\n\t\tc()\n\td()\n"
      )
    })

    it("does not reach beyond the text that was named", () => {
      assert.strictEqual(edited("a  b\n    c\n", "a b\n", "x\n"), "x\n    c\n")
      assert.strictEqual(edited("    c\na  b\n", "\na b", "\nx"), "    c\nx\n")
      assert.strictEqual(edited("a\n\t\nb\r\nc", "a\n\nb\nc", "a\n\nB\nc"), "a\n\t\nB\r\nc")
    })

    it("is no guess: two candidates are a question, and words have to agree", () => {
      const twice = "  a = 1\n\ta = 1\n"
      assert.deepInclude(refusal(twice, "    a = 1\n", "    a = 2\n"), { code: "FS_AMBIGUOUS_EDIT" })
      assert.include(refusal(twice, "    a = 1\n", "    a = 2\n").message, "lines 1, 2")
      assert.strictEqual(refusal(twice, "    a = 1\n", "    a = 2\n", true).code, "FS_AMBIGUOUS_EDIT")
      assert.strictEqual(refusal("f(a,b)", "f(a, b)", "x").code, "FS_EDIT_NOT_FOUND")
      assert.strictEqual(refusal("a\nb", "a b", "x").code, "FS_EDIT_NOT_FOUND")
      assert.strictEqual(refusal("\tx\n", "    x\n", "\tx\n").code, "INVALID_ARGS")
    })

    it("does not take long in text made of spaces", () => {
      const spaces = " ".repeat(200_000)
      assert.strictEqual(refusal(`${spaces}x`, "  a  b", "c").code, "FS_EDIT_NOT_FOUND")
      assert.strictEqual(refusal(`${spaces}x`, " \n b", "c").code, "FS_EDIT_NOT_FOUND")
    })
  })
})
