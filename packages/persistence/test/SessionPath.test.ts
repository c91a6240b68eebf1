import { assert, describe, it } from "@effect/vitest"
import * as SessionPath from "@dsh/persistence/SessionPath"
import { FastCheck } from "effect"

/** UTF-16 units drawn one by one: lone surrogates, separators and the escape itself come up often. */
const id = FastCheck.array(
  FastCheck.oneof(
    FastCheck.constantFrom("~", ".", "-", "/", "~002F", "~007E", "~", "002F", " "),
    FastCheck.nat(0xffff).map((unit) => String.fromCharCode(unit))
  ),
  { minLength: 1, maxLength: 12 }
).map((units) => units.join(""))

const unescape = (name: string): string =>
  name.replace(/~([0-9A-F]{4})/g, (_, unit: string) => String.fromCharCode(Number.parseInt(unit, 16)))

describe("segment", () => {
  it.prop("can be read back, so no two ids share a folder", [id], ([a]) =>
    assert.strictEqual(unescape(SessionPath.segment(a) ?? ""), a)
  )

  it.prop("gives two ids two folders", [id, id], ([a, b]) =>
    assert.strictEqual(SessionPath.segment(a) === SessionPath.segment(b), a === b)
  )

  it.prop("is a plain file name", [id], ([a]) => {
    assert.match(SessionPath.segment(a) ?? "", /^[A-Za-z0-9._~-]+$/)
    assert.notInclude([".", ".."], SessionPath.segment(a))
  })

  it("keeps what is safe, escapes the rest, refuses what has no name", () => {
    assert.strictEqual(SessionPath.segment("session-1.A_b"), "session-1.A_b")
    assert.strictEqual(SessionPath.segment("a/b~\ud800\u{1f600}"), "a~002Fb~007E~D800~D83D~DE00")
    assert.strictEqual(SessionPath.segment("."), "~002E")
    assert.strictEqual(SessionPath.segment(".."), "~002E~002E")
    assert.strictEqual(SessionPath.segment("..."), "...")
    assert.isUndefined(SessionPath.segment(""))
    assert.strictEqual(SessionPath.segment("x".repeat(255)), "x".repeat(255))
    assert.isUndefined(SessionPath.segment("x".repeat(256)))
  })
})

describe("project", () => {
  it("is the path, readable", () => {
    assert.strictEqual(SessionPath.project(undefined), "_no-cwd")
    assert.strictEqual(SessionPath.project("/"), "--root--")
    assert.strictEqual(SessionPath.project("/home/ada/my project"), "--home-ada-my~0020project--")
    assert.strictEqual(SessionPath.project("C:\\Users\\ada"), "--C-Users-ada--")
    assert.strictEqual(SessionPath.project("/a//b/"), "--a-b---")
  })

  it.prop("fits into a file name", [FastCheck.string({ maxLength: 400 })], ([cwd]) => {
    const name = SessionPath.project(`/${cwd}`)
    assert.match(name, /^--[A-Za-z0-9._~-]+--$/)
    assert.isAtMost(name.length, 255)
  })
})
