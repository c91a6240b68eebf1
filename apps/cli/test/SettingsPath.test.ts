import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import * as SettingsPath from "../src/SettingsPath.ts"

describe("SettingsPath.parse", () => {
  for (const [text, path] of [
    ["a", ["a"]],
    ["agent-loop.maxParallelToolCalls", ["agent-loop", "maxParallelToolCalls"]],
    ["permission.rules.deny[12]", ["permission", "rules", "deny", 12]],
    ["prices.provider/model", ["prices", "provider/model"]],
    [`prices."p/m-1.5"[0].input`, ["prices", "p/m-1.5", 0, "input"]],
    [`'a b'.c`, ["a b", "c"]]
  ] as const) {
    it(`reads ${text}`, () => assert.deepStrictEqual(Either.getOrThrow(SettingsPath.parse(text)), path))
  }

  for (const text of ["", ".", "a.", ".a", "a..b", "[0]", "a[b]", "a[", 'a."b', "a.[0]", 'a"b"']) {
    it(`refuses "${text}"`, () =>
      assert.deepInclude(Either.getOrThrow(Either.flip(SettingsPath.parse(text))), { code: "USAGE", exitCode: 2 }))
  }
})
