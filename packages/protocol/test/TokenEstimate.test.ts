// Against a real tokenizer, which is only here for that.
import { assert, describe, it } from "@effect/vitest"
import { encode } from "gpt-tokenizer"
import { readFileSync } from "node:fs"
import * as TokenEstimate from "../src/TokenEstimate.ts"

const file = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8")

const texts: Readonly<Record<string, string>> = {
  "English prose":
    "It was a bright cold day in spring, and she walked slowly through the empty streets, thinking about everything that had " +
    "happened during the previous evening. Nobody had told her that the library would be closed, so she sat down on the steps, " +
    "opened the letter again and read it from the beginning, this time without skipping the parts she did not want to believe.",
  "English documentation": file("docs/failures.md"),
  "a reference page": file("docs/session-log.md"),
  TypeScript: file("packages/loop/src/ToolScheduler.ts"),
  JavaScript: file("scripts/bundle.mjs"),
  JSON: file("apps/cli/package.json"),
  Python:
    'def fibonacci(n: int) -> list[int]:\n    """Return the first n numbers."""\n    a, b = 0, 1\n    result = []\n' +
    "    for _ in range(n):\n        result.append(a)\n        a, b = b, a + b\n    return result\n",
  "a listing": Array.from(
    { length: 40 },
    (_, i) => `-rw-r--r-- 1 root root ${1000 + i * 37} Dec  1 02:${10 + i} packages/core/src/Module${i}.ts`
  ).join("\n"),
  Chinese:
    "在软件工程中,测试驱动开发是一种先写测试再写实现的方法。开发者首先描述期望的行为,然后编写最少的代码让测试通过,最后再重构。" +
    "这样做的好处是每一行代码都有存在的理由,而且当需求改变时,测试会立刻指出哪里不再成立。请查看仓库里的失败测试,找出原因,并修复它。",
  Japanese:
    "ソフトウェア開発では、まずテストを書いてから実装する方法があります。期待する動作を先に説明し、次に最小限のコードを書いてテストを通し、" +
    "最後にリファクタリングを行います。リポジトリの失敗しているテストを調べて原因を見つけ、修正してください。",
  Korean:
    "소프트웨어 개발에서는 먼저 테스트를 작성하고 나서 구현하는 방법이 있습니다. 기대하는 동작을 먼저 설명한 다음 최소한의 코드로 테스트를 " +
    "통과시키고 마지막으로 리팩터링합니다. 저장소에서 실패하는 테스트를 찾아 원인을 파악하고 수정해 주세요."
}

describe("TokenEstimate", () => {
  for (const [what, text] of Object.entries(texts)) {
    it(`is within a fifth for ${what}`, () => {
      const ratio = TokenEstimate.ofText(text) / encode(text).length
      assert.isAtLeast(ratio, 0.8)
      assert.isAtMost(ratio, 1.2)
    })
  }

  it("is nothing for nothing, and something for anything", () => {
    assert.strictEqual(TokenEstimate.ofText(""), 0)
    for (const text of ["a", "é", "\u{1f600}", "\ud800", "\0", "\n", "}", "7"])
      assert.isAtLeast(TokenEstimate.ofText(text), 0)
    assert.isAtLeast(TokenEstimate.ofText("a".repeat(100_000)), 10_000)
  })

  it("counts ASCII the same beside other scripts", () => {
    for (const [what, text] of Object.entries(texts)) {
      const ascii = text.replaceAll(/[^\0-\x7f]/g, " ") + " \t\0~`[x9]\r\n\n  aB CDe FGH\n"
      // A character of no script is 0.8 of a token of its own, and what is counted is rounded up.
      const beside = TokenEstimate.ofText(`${ascii}\u{1f600}`) - 0.8
      assert.isAtMost(Math.abs(beside - TokenEstimate.ofText(ascii)), 1, what)
    }
  })
})
