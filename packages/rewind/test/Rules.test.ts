// Which paths are watched: what git ignores is not, said by git itself.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import { dirname, join } from "node:path"
import * as Rules from "../src/FileRecording/Rules.ts"
import * as Walk from "../src/FileRecording/Walk.ts"
import { folder } from "./support.ts"

const files: Readonly<Record<string, string>> = {
  ".gitignore": "# comment\n*.log\n/build/\ntmp*/\n!keep.log\nsub/*.x\n",
  "a.log": "",
  "keep.log": "",
  "build/out": "",
  "src/build/in": "",
  "tmp1/x": "",
  tmpfile: "",
  "src/.gitignore": "*.gen\n!special.log\nname with space\n",
  "src/a.gen": "",
  "src/special.log": "",
  "src/deep/b.gen": "",
  "src/deep/.gitignore": "!b.gen\n",
  "src/name with space": "",
  "src/ü.log": "",
  "sub/a.x": "",
  "sub/deep/a.x": "",
  "node_modules/p/index.js": "",
  ".hidden": ""
}

const made = Effect.map(folder, (root) => {
  for (const [path, text] of Object.entries(files)) {
    Fs.mkdirSync(dirname(join(root, path)), { recursive: true })
    Fs.writeFileSync(join(root, path), text)
  }
  execFileSync("git", ["init", "-q"], { cwd: root })
  Fs.writeFileSync(join(root, ".git/info/exclude"), "excluded\n")
  Fs.writeFileSync(join(root, "excluded"), "")
  return root
})

const place = (root: string) => ({ folder: root, home: "/nowhere", maxEntries: 1000 })

const seen = (look: Walk.Look | undefined) =>
  [...(look?.sights ?? [])].flatMap(([path, { kind }]) => (kind === "file" ? [path] : [])).sort()

const unignored = (root: string) =>
  execFileSync("git", ["ls-files", "-z", "--others", "--exclude-standard"], { cwd: root, encoding: "utf8" })
    .split("\0")
    .filter((path) => path !== "" && !path.startsWith("node_modules/"))
    .sort()

describe("a walk", () => {
  it.scopedLive("sees what git does not ignore, but for installed packages", () =>
    Effect.gen(function* () {
      const root = yield* made
      assert.deepStrictEqual(seen(yield* Effect.promise(() => Walk.walk(place(root)))), unignored(root))
    })
  )

  it.scopedLive("sees the same when it remembers the last one, and what is new under new rules", () =>
    Effect.gen(function* () {
      const root = yield* made
      const first = yield* Effect.promise(() => Walk.walk(place(root)))
      Fs.writeFileSync(join(root, "src/new.gen"), "")
      Fs.writeFileSync(join(root, "new"), "")
      Fs.rmSync(join(root, "tmpfile"))
      // A folder of that name is ignored, a file was not.
      Fs.mkdirSync(join(root, "tmpfile"))
      Fs.writeFileSync(join(root, "tmpfile/x"), "")
      const second = yield* Effect.promise(() => Walk.walk(place(root), first))
      assert.deepStrictEqual(seen(second), unignored(root))
      Fs.writeFileSync(join(root, "src/.gitignore"), "*.log\n")
      const third = yield* Effect.promise(() => Walk.walk(place(root), second))
      assert.deepStrictEqual(seen(third), unignored(root))
      assert.include(seen(third), "src/new.gen")
    })
  )

  it.scopedLive("gives up on what is too large, and never looks at the home of the product", () =>
    Effect.gen(function* () {
      const root = yield* made
      assert.isUndefined(yield* Effect.promise(() => Walk.walk({ ...place(root), maxEntries: 5 })))
      const without = yield* Effect.promise(() => Walk.walk({ ...place(root), home: join(root, "src") }))
      assert.deepStrictEqual(
        seen(without),
        unignored(root).filter((path) => !path.startsWith("src/"))
      )
    })
  )
})

describe("the stat of a file", () => {
  it.scopedLive("says nothing about one that was changed a moment before it was looked at", () =>
    Effect.gen(function* () {
      const root = yield* folder
      Fs.writeFileSync(join(root, "a"), "1")
      const sight = Walk.look(join(root, "a"))!
      assert.isTrue(sight.isFresh)
      assert.isFalse(Walk.isSame(sight, sight))
      const old = { ...sight, isFresh: false }
      assert.isTrue(Walk.isSame(old, old))
      for (const change of [
        { size: 2 },
        { ctimeMs: 1 },
        { mtimeMs: 1 },
        { ino: 1 },
        { mode: 0 },
        { kind: "symlink" as const }
      ]) {
        assert.isFalse(Walk.isSame(old, { ...old, ...change }))
      }
    })
  )
})

describe("a name that says that it holds keys", () => {
  it("is known", () => {
    for (const path of [".env", "a/.env.local", "id_rsa", "x/server.KEY", "cert.pem", ".npmrc"])
      assert.isTrue(Rules.isSecret(path), path)
    for (const path of [".env.example", "environment", "id_rsa.pub", "key.ts", "a.pem/b"])
      assert.isFalse(Rules.isSecret(path), path)
  })
})
