// What `.env` files may say, and what they may not.
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isBootstrap } from "../src/BootstrapNames.ts"
import * as EnvFile from "../src/EnvFile.ts"
import * as EnvFiles from "../src/EnvFiles.ts"

const valuesOf = (text: string) =>
  Object.fromEntries(Either.getOrThrow(EnvFile.parse(text)).map(({ name, value }) => [name, value]))

describe("EnvFile.parse", () => {
  it("reads what people write", () => {
    const text = [
      "\uFEFF# a comment",
      "",
      "PLAIN=sk-1 # of mine",
      "  export SPACED =  a b  ",
      'DOUBLE="x # y\\nz" # after',
      "SINGLE='x\\ny'",
      'TICKS=`a"b`',
      'LINES="one',
      "two # no comment",
      'three"',
      "EMPTY=",
      "EQUALS=a=b==",
      "EXPANDED=${PLAIN}",
      "AGAIN=1",
      "AGAIN=2"
    ]
    const expected = {
      PLAIN: "sk-1",
      SPACED: "a b",
      DOUBLE: "x # y\nz",
      SINGLE: "x\\ny",
      TICKS: 'a"b',
      LINES: "one\ntwo # no comment\nthree",
      EMPTY: "",
      EQUALS: "a=b==",
      EXPANDED: "${PLAIN}",
      AGAIN: "2"
    }
    assert.deepStrictEqual(valuesOf(text.join("\n")), expected)
    assert.deepStrictEqual(valuesOf(text.join("\r\n")), expected)
  })

  for (const [what, text, line] of [
    ["a line without =", "A=1\nexport B\n", 2],
    ["a name that is none", "A=1\n\n2B=sk-secret", 3],
    ["a quote that nothing closes", 'A=1\nB="sk-secret\nC=2\n', 2],
    ["something after the quote", "A='x' sk-secret", 1]
  ] as const) {
    it(`refuses ${what}, with its line and without its words`, () => {
      const fault = Either.getOrThrow(Either.flip(EnvFile.parse(text)))
      assert.strictEqual(fault.line, line)
      assert.notInclude(fault.reason, "secret")
    })
  }
})

describe("the names that no .env file sets", () => {
  it("are those that decide what runs and whom it talks to", () => {
    for (const name of ["PATH", "NODE_OPTIONS", "DEEPSEEK_BASE_URL", "https_proxy", "DSH_HOME", "DYLD_X", "XDG_X"]) {
      assert.isTrue(isBootstrap(name), name)
    }
    for (const name of ["DEEPSEEK_API_KEY", "MY_PATH", "path", "DATABASE_URL"]) assert.isFalse(isBootstrap(name), name)
  })
})

/** The two folders with these files. */
const inFolders = <A, E>(
  files: { readonly project?: string; readonly home?: string },
  use: (folders: { readonly project: string; readonly home: string }) => Effect.Effect<A, E>
) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const root = mkdtempSync(join(tmpdir(), "dsh-env-"))
      const folders = { project: join(root, "project"), home: join(root, "home") }
      mkdirSync(folders.project)
      mkdirSync(folders.home)
      for (const name of ["project", "home"] as const) {
        const text = files[name]
        if (text !== undefined) writeFileSync(join(folders[name], ".env"), text)
      }
      return { root, folders }
    }),
    ({ folders }) => use(folders),
    ({ root }) => Effect.sync(() => rmSync(root, { recursive: true }))
  )

describe("EnvFiles.load", () => {
  it.effect("reads both, keeps them apart, and leaves the environment alone", () =>
    inFolders({ project: "A_TEST_KEY=1", home: "A_TEST_KEY=2\nB=3" }, (folders) =>
      Effect.gen(function* () {
        const { projectEnv, userEnv } = yield* EnvFiles.load(folders)
        assert.deepStrictEqual(Array.from(projectEnv), [["A_TEST_KEY", "1"]])
        assert.deepStrictEqual(Array.from(userEnv), [
          ["A_TEST_KEY", "2"],
          ["B", "3"]
        ])
        assert.notProperty(process.env, "A_TEST_KEY")
        const same = yield* EnvFiles.load({ project: folders.home, home: folders.home })
        assert.strictEqual(same.userEnv.size, 0)
        assert.strictEqual(same.projectEnv.size, 2)
      })
    )
  )

  it.effect("finds nothing where nothing is, or where it is a folder", () =>
    inFolders({}, (folders) =>
      Effect.gen(function* () {
        mkdirSync(join(folders.project, ".env"))
        assert.deepStrictEqual(yield* EnvFiles.load(folders), EnvFiles.none)
        assert.deepStrictEqual(yield* EnvFiles.load({ project: "/nowhere/a", home: "/nowhere/b" }), EnvFiles.none)
      })
    )
  )

  it.effect("what is wrong with either ends the start, with file, line and what to do", () =>
    Effect.gen(function* () {
      const syntax = yield* inFolders({ project: "A=1", home: "A=1\nB" }, (folders) =>
        Effect.map(Effect.flip(EnvFiles.load(folders)), (error) => ({ error, folders }))
      )
      assert.strictEqual(syntax.error.code, "ENV_FILE_INVALID")
      assert.include(syntax.error.message, `${syntax.folders.home}/.env:2: is no NAME=value`)
      const bootstrap = yield* inFolders({ project: "A=1\n\nexport NODE_OPTIONS=--require=./evil.js" }, (folders) =>
        Effect.map(Effect.flip(EnvFiles.load(folders)), (error) => ({ error, folders }))
      )
      assert.strictEqual(bootstrap.error.code, "ENV_FILE_BOOTSTRAP")
      assert.match(bootstrap.error.message, /project\/\.env:3: sets NODE_OPTIONS.*take the line out/)
      assert.notInclude(bootstrap.error.message, "evil")
    })
  )
})
