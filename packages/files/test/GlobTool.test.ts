import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as NodeFs from "node:fs"
import { codeOf, textOf } from "./support.ts"
import { program, tools, toolsWith, workspace } from "./search.ts"

const lines = (text: string) => text.split("\n").sort()

describe("GlobTool", () => {
  it.scopedLive("tells names from paths, and keeps to files", () =>
    Effect.gen(function* () {
      const { at, glob } = yield* workspace({
        "a.ts": "",
        "src/b.ts": "",
        "src/deep/c.tsx": "",
        "lib/src/d.ts": "",
        "ts/e.md": ""
      })
      const found = (pattern: string, args?: object) => Effect.map(glob(pattern, args), (it) => lines(textOf(it)))
      assert.deepStrictEqual(yield* found("*.ts"), ["a.ts", "lib/src/d.ts", "src/b.ts"])
      assert.deepStrictEqual(yield* found("/*.ts"), ["a.ts"])
      assert.deepStrictEqual(yield* found("./*.ts"), ["a.ts"])
      assert.deepStrictEqual(yield* found(at("*.ts")), ["a.ts"])
      assert.deepStrictEqual(yield* found("src/**/*.{ts,tsx}"), ["src/b.ts", "src/deep/c.tsx"])
      assert.deepStrictEqual(yield* found("**/src/*.ts"), ["lib/src/d.ts", "src/b.ts"])
      assert.deepStrictEqual(yield* found("ts"), ["No files found"])
      assert.deepStrictEqual(yield* found("src/*.ts", { path: "lib" }), ["lib/src/d.ts"])
      assert.lengthOf(yield* found("**"), 5)
      assert.lengthOf(yield* found("*"), 5)
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive(
    "lists hidden files, and neither ignored ones nor what version control keeps, whatever the pattern names",
    () =>
      Effect.gen(function* () {
        const { glob } = yield* workspace({
          ".gitignore": "*.log\ndist/\n",
          ".ignore": "private.ts\n",
          ".github/ci.yml": "",
          ".git/config": "",
          "sub/.git": "gitdir: elsewhere",
          ".jj/x.log": "",
          "a.log": "",
          "dist/b.ts": "",
          "private.ts": "",
          "c.ts": ""
        })
        const found = (pattern: string, args?: object) => Effect.map(glob(pattern, args), textOf)
        assert.strictEqual(yield* found("*.log"), "No files found")
        assert.strictEqual(yield* found("dist/*"), "No files found")
        assert.strictEqual(yield* found("*.ts"), "c.ts")
        assert.strictEqual(yield* found("*.yml"), ".github/ci.yml")
        assert.deepStrictEqual(lines(yield* found("**/*")), [".github/ci.yml", ".gitignore", ".ignore", "c.ts"])
        const unpacked = yield* workspace({ ".gitignore": "dist/\n", "dist/a.ts": "", "b.ts": "" })
        assert.strictEqual(textOf(yield* unpacked.glob("*.ts")), "b.ts")
        const refused = yield* glob("*", { path: ".git" })
        assert.strictEqual(codeOf(refused), "SEARCH_FAILED")
        assert.include(textOf(refused), "belongs to version control")
      }).pipe(Effect.provide(tools))
  )

  it.scopedLive(
    "shows so many, those that were changed longest ago first, or last, and says how to get at the others",
    () =>
      Effect.gen(function* () {
        const { at, glob } = yield* workspace({ "new.ts": "", "old.ts": "", "between.ts": "" })
        for (const [name, time] of [
          ["old.ts", 1000],
          ["between.ts", 2000],
          ["new.ts", 3000]
        ] as const) {
          NodeFs.utimesSync(at(name), time, time)
        }
        const note =
          "\n\n(shown 2 of 3 files; the whole list could not be saved; or narrow the pattern or pass a folder as path)"
        assert.strictEqual(
          textOf(yield* Effect.provide(glob("*.ts"), toolsWith({ maxPaths: 2 }))),
          `old.ts\nbetween.ts${note}`
        )
        assert.strictEqual(
          textOf(yield* Effect.provide(glob("*.ts"), toolsWith({ maxPaths: 2, order: "newest" }))),
          `new.ts\nbetween.ts${note}`
        )
      }).pipe(Effect.provide(tools))
  )

  it.scopedLive("takes names as they are: options, shells and bytes that are no text", () =>
    Effect.gen(function* () {
      const { at, dir, glob } = yield* workspace({ "-e.ts": "", "a b.ts": "", "$(touch x).ts": "" })
      NodeFs.writeFileSync(Buffer.concat([Buffer.from(`${dir}/n`), Buffer.of(0xff), Buffer.from(".md")]), "")
      assert.strictEqual(textOf(yield* glob("-e.ts")), "-e.ts")
      assert.strictEqual(textOf(yield* glob("--files")), "No files found")
      assert.strictEqual(textOf(yield* glob("$(touch x)*")), "$(touch x).ts")
      assert.strictEqual(textOf(yield* glob("*.md")), "n\uFFFD.md")
      assert.isFalse(NodeFs.existsSync(at("x")))
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("refuses patterns and places that cannot be meant, and says what to do", () =>
    Effect.gen(function* () {
      const { glob } = yield* workspace({ "README.md": "" })
      for (const [pattern, message] of [
        ["!*.ts", "begins with !"],
        ["*.ts,*.tsx", "put it in braces"],
        ["../*.ts", "leads out of the folder"],
        ["~/*.ts", "not expanded"]
      ] as const) {
        const refused = yield* glob(pattern)
        assert.strictEqual(codeOf(refused), "SEARCH_INVALID_PATTERN")
        assert.include(textOf(refused), message)
      }
      const missing = yield* glob("*", { path: "readme.md" })
      assert.strictEqual(codeOf(missing), "SEARCH_FAILED")
      assert.match(textOf(missing), /does not exist; did you mean .*README\.md\?/)
      assert.include(textOf(yield* glob("*", { path: "README.md" })), "is no folder")
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("gives some files in no order when sorting them takes too long", () =>
    Effect.gen(function* () {
      const slow = yield* program(
        `case "$*" in *--sort*) exec tail -f /dev/null;; esac; printf './a.ts\\0./b.ts\\0./half'; exec tail -f /dev/null`
      )
      const { glob } = yield* Effect.provide(workspace({}), tools)
      const found = yield* Effect.provide(glob("*"), toolsWith({ program: slow, timeoutMs: 1500 }))
      assert.match(textOf(found), /^a\.ts\nb\.ts\n\n\(the search took too long and was stopped: there may be more; /)
    }).pipe(Effect.provide(tools))
  )
})
