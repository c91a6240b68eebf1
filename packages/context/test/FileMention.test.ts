import { assert, describe, it } from "@effect/vitest"
import * as FileMention from "../src/FileMention.ts"

/** `|` is the cursor. */
const at = (marked: string) => FileMention.at(marked.replace("|", ""), marked.indexOf("|"))

describe("FileMention", () => {
  const rows: ReadonlyArray<readonly [string, string | undefined]> = [
    ["@|", ""],
    ["@src/ma|", "src/ma"],
    ["look at @src|", "src"],
    ["line\n@a|", "a"],
    ['see @"a b|', "a b"],
    ["see @ab|cd", "ab"],
    ["me@example.com|", undefined],
    ["see @a |", undefined],
    ['see @"a b" and|', undefined],
    ['see @"a\nb|', undefined],
    ["|@a", undefined],
    ["nothing|", undefined]
  ]
  for (const [text, query] of rows) {
    it(`${JSON.stringify(text)} asks for ${JSON.stringify(query)}`, () => {
      assert.strictEqual(at(text)?.query, query)
    })
  }

  it("puts the path in the place of what was typed, and lets a folder go on", () => {
    const text = "see @sr now"
    const mention = FileMention.at(text, 7)!
    assert.deepStrictEqual(FileMention.complete(text, mention, "src/main.ts"), {
      text: "see @src/main.ts  now",
      cursor: 17
    })
    assert.deepStrictEqual(FileMention.complete(text, mention, "src/"), { text: "see @src/ now", cursor: 9 })
    const folder = FileMention.complete("@a", FileMention.at("@a", 2)!, "a b/")
    assert.deepStrictEqual(folder, { text: '@"a b/', cursor: 6 })
    assert.strictEqual(FileMention.at(folder.text, folder.cursor)?.query, "a b/")
    const file = FileMention.complete(folder.text, FileMention.at(folder.text, 6)!, "a b/c.txt")
    assert.deepStrictEqual(file, { text: '@"a b/c.txt" ', cursor: 13 })
  })
})
