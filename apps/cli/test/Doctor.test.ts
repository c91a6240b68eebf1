import { AmbientEnv } from "@dsh/world/AmbientEnv"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Address from "../src/Address.ts"
import * as Finding from "../src/doctor/Finding.ts"
import * as Home from "../src/doctor/Home.ts"
import * as Network from "../src/doctor/Network.ts"
import * as Node from "../src/doctor/Node.ts"
import * as Ripgrep from "../src/doctor/Ripgrep.ts"
import * as Terminal from "../src/doctor/Terminal.ts"

describe("a finding", () => {
  it("is as bad as the worst of many, and tells them all", () => {
    assert.deepStrictEqual(Finding.all([Finding.warn("a", "mend a"), Finding.ok("b"), Finding.fail("c", "mend c")]), {
      status: "fail",
      message: "a; mend a\nb\nc; mend c"
    })
    assert.deepStrictEqual(Finding.all([Finding.ok("a"), Finding.warn("b")]).status, "warn")
    assert.deepStrictEqual(Finding.all([Finding.fail("c", "mend c")]), Finding.fail("c", "mend c"))
  })

  it("takes an error of one line apart, and leaves one of several as it is", () => {
    assert.deepStrictEqual(Finding.because("warn", { message: "it is; do; more" }), Finding.warn("it is", "do; more"))
    assert.deepStrictEqual(Finding.because("fail", { message: "a; b\nc; d" }), Finding.fail("a; b\nc; d"))
  })
})

describe("a check", () => {
  for (const [version, status] of [
    ["20.19.0", "ok"],
    ["20.20.2", "ok"],
    ["24.0.0", "ok"],
    ["20.18.9", "fail"],
    ["18.20.8", "fail"]
  ] as const) {
    it(`says ${status} of Node ${version}`, () => assert.strictEqual(Node.judge(version).status, status))
  }

  for (const [status, says] of [
    [200, "ok"],
    [401, "ok"],
    [404, "ok"],
    [302, "warn"],
    [503, "warn"]
  ] as const) {
    it(`says ${says} of an address that answers ${status}`, () =>
      assert.strictEqual(Network.judge("http://a", status).status, says))
  }

  it("wants room in the home folder", () => {
    assert.deepStrictEqual(
      [2 ** 30, 50 * 2 ** 20, 1000].map((bytes) => Home.space(bytes, "/h").map(({ status }) => status)),
      [[], ["warn"], ["fail"]]
    )
  })

  it("describes the terminal", () => {
    assert.strictEqual(
      Terminal.describe({ isTTY: true, columns: 80 }, { LANG: "de_DE.UTF-8" }),
      "a terminal of 80 columns, colour, UTF-8"
    )
    assert.strictEqual(
      Terminal.describe({ isTTY: true, columns: 80 }, { LC_ALL: "C", LANG: "de_DE.UTF-8", NO_COLOR: "1" }),
      "a terminal of 80 columns, no colour, no UTF-8 by its locale (C)"
    )
  })

  it.effect("misses ripgrep where it was not packaged and is not in PATH", () =>
    Effect.gen(function* () {
      const found = yield* Ripgrep.find(Effect.fail("not packaged"))
      assert.strictEqual(found.status, "fail")
      assert.match(found.message, /^there is no ripgrep to search with/)
      assert.match(found.remedy ?? "", /^install it so that "rg" is in PATH/)
    }).pipe(Effect.provideService(AmbientEnv, { PATH: "/nowhere" }))
  )

  it.scopedLive("does not take any program for ripgrep", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "dsh-rg-"))),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
      )
      writeFileSync(join(folder, "rg"), "#!/bin/sh\nexit 7\n")
      chmodSync(join(folder, "rg"), 0o755)
      const found = yield* Ripgrep.find(Effect.succeed({ rgPath: join(folder, "rg") }))
      assert.strictEqual(found.status, "fail")
      assert.include(found.message, "does not run as ripgrep (it ended with exit code 7)")
    })
  )
})

describe("an address", () => {
  for (const [text, shown, isValid] of [
    ["https://api.example.com/", "https://api.example.com", true],
    ["http://user:secret@host:8080/v1/?key=secret", "http://host:8080/v1", true],
    ["secret", "(no address)", false],
    ["ftp://user:secret@host", "(no address)", false]
  ] as const) {
    it(`is shown as ${shown} for ${text}`, () =>
      assert.deepInclude(Address.parse(text, "environment"), { shown, isValid }))
  }
})
