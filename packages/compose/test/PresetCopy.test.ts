// Copies of presets, in real folders.
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Sources } from "../src/Presets.ts"
import * as PresetCopy from "../src/PresetCopy.ts"

const root = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "dsh-presets-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const shipped = { id: "box", name: "Box", order: 1, rows: [] }

/** A product with one preset, with all that a folder can have, and a user with none. */
const world = Effect.map(root, (folder) => {
  const box = join(folder, "shipped", "box")
  mkdirSync(join(box, "notes"), { recursive: true })
  writeFileSync(join(folder, "elsewhere.md"), "linked\n")
  writeFileSync(join(box, "agent.yml"), "# rows\n- id: a\n  name: clock\n")
  writeFileSync(
    join(box, "preset.yml"),
    "# what people are told\nname: Box\ndescription: All of it # really\norder: 1\nextends: other\n"
  )
  writeFileSync(join(box, "notes", "run.sh"), "true\n")
  chmodSync(join(box, "notes", "run.sh"), 0o755)
  symlinkSync(join(folder, "elsewhere.md"), join(box, "notes", "link.md"))
  const sources: Sources = {
    shipped: { box: shipped },
    shippedFolder: Effect.succeed(join(folder, "shipped")),
    userFolder: join(folder, "home", ".agent-presets")
  }
  return { box, sources, users: sources.userFolder }
})

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

const reason = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

const layer = NodeFileSystem.layer

describe("a copy of a preset", () => {
  it.scoped("is the whole folder, for the user alone, without links, name and order", () =>
    Effect.gen(function* () {
      const { sources, users } = yield* world
      const folder = yield* PresetCopy.copy(sources, "box", "mine")
      assert.strictEqual(folder, join(users, "mine"))
      assert.deepStrictEqual(readdirSync(users), ["mine"])
      assert.strictEqual(readFileSync(join(folder, "agent.yml"), "utf8"), "# rows\n- id: a\n  name: clock\n")
      const info = readFileSync(join(folder, "preset.yml"), "utf8")
      assert.include(info, "description: All of it # really\nextends: other\n")
      assert.notMatch(info, /^(name|order):/m)
      assert.strictEqual(readFileSync(join(folder, "notes", "link.md"), "utf8"), "linked\n")
      assert.isFalse(statSync(join(folder, "notes", "link.md")).isSymbolicLink())
      for (const path of [users, folder, join(folder, "notes")]) assert.strictEqual(mode(path), "700", path)
      for (const name of ["agent.yml", "preset.yml", "notes/run.sh", "notes/link.md"]) {
        assert.strictEqual(mode(join(folder, name)), "600", name)
      }
      // One's own can be copied again.
      assert.strictEqual(yield* PresetCopy.copy(sources, "mine", "mine-2"), join(users, "mine-2"))
    }).pipe(Effect.provide(layer))
  )

  it.scoped("overwrites nothing, and has an id that no other has", () =>
    Effect.gen(function* () {
      const { sources, users } = yield* world
      mkdirSync(join(users, "mine"), { recursive: true })
      assert.match(yield* reason(PresetCopy.copy(sources, "box", "mine")), /mine: it is there already; remove it with/)
      assert.match(yield* reason(PresetCopy.copy(sources, "box", "box")), /"box" is a preset of the product; choose/)
      assert.match(
        yield* reason(PresetCopy.copy(sources, "bx", "other")),
        /there is no preset "bx"; did you mean "box"/
      )
      for (const id of ["", "Mine", "-a", "a/b", "..", ".a", "a".repeat(65), "a\n"]) {
        assert.match(yield* reason(PresetCopy.copy(sources, "box", id)), /is no id of a preset; an id has/, id)
      }
      assert.deepStrictEqual(readdirSync(users), ["mine"])
      assert.deepStrictEqual(readdirSync(join(users, "mine")), [])
    }).pipe(Effect.provide(layer))
  )

  it.scoped("that fails leaves nothing", () =>
    Effect.gen(function* () {
      const { box, sources, users } = yield* world
      const cases: ReadonlyArray<readonly [name: string, make: (path: string) => void, why: RegExp]> = [
        ["back", (path) => symlinkSync(box, path), /back: is a link that leads back to where it is; remove the link/],
        ["nowhere", (path) => symlinkSync(join(box, "gone"), path), /the preset could not be copied/],
        ["device", (path) => symlinkSync("/dev/null", path), /device: is neither a file nor a folder/]
      ]
      for (const [name, make, why] of cases) {
        make(join(box, name))
        assert.match(yield* reason(PresetCopy.copy(sources, "box", "mine")), why)
        assert.deepStrictEqual(readdirSync(users), [], name)
        rmSync(join(box, name))
      }
      writeFileSync(join(box, "preset.yml"), "name: [\n")
      assert.match(yield* reason(PresetCopy.copy(sources, "box", "mine")), /box\/preset\.yml: the file is no YAML/)
      assert.deepStrictEqual(readdirSync(users), [])
    }).pipe(Effect.provide(layer))
  )

  it.scoped("leaves nothing when it is interrupted half-way", () =>
    Effect.gen(function* () {
      const { sources, users } = yield* world
      const fs = yield* FileSystem.FileSystem
      let files = 0
      const interrupting: FileSystem.FileSystem = {
        ...fs,
        writeFile: (...args) =>
          Effect.zipRight(
            fs.writeFile(...args),
            Effect.suspend(() => (++files === 2 ? Effect.interrupt : Effect.void))
          )
      }
      yield* Effect.exit(
        Effect.provideService(PresetCopy.copy(sources, "box", "mine"), FileSystem.FileSystem, interrupting)
      )
      assert.strictEqual(files, 2)
      assert.deepStrictEqual(readdirSync(users), [])
    }).pipe(Effect.provide(layer))
  )
})

describe("removing a preset", () => {
  it.scoped("takes the user's away, and nothing that a link leads to", () =>
    Effect.gen(function* () {
      const { box, sources, users } = yield* world
      yield* PresetCopy.copy(sources, "box", "mine")
      yield* PresetCopy.remove(sources, "mine")
      symlinkSync(box, join(users, "linked"))
      yield* PresetCopy.remove(sources, "linked")
      assert.deepStrictEqual(readdirSync(users), [])
      assert.isTrue(existsSync(join(box, "agent.yml")))
      assert.match(yield* reason(PresetCopy.remove(sources, "mine")), /there is no preset "mine"/)
      assert.match(yield* reason(PresetCopy.remove(sources, "box")), /is part of the product and stays; copy it with/)
    }).pipe(Effect.provide(layer))
  )
})

it.effect("a user's folder that is no folder is told of", () =>
  Effect.gen(function* () {
    const here = fileURLToPath(import.meta.url)
    const sources: Sources = { shipped: { box: shipped }, shippedFolder: Effect.succeed("/"), userFolder: here }
    assert.match(yield* reason(PresetCopy.copy(sources, "box", "mine")), /could not be copied/)
  }).pipe(Effect.provide(layer))
)
