// Settings as a file: what is read of it, and how it is said that it cannot be.
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { FileSystem } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import * as Settings from "../src/Settings.ts"
import * as SettingsFile from "../src/SettingsFile.ts"
import * as SettingsMemory from "../src/SettingsMemory.ts"

const Colors = Schema.Struct({
  theme: Schema.optional(Schema.Literal("dark", "light")),
  sizes: Schema.optional(Schema.Array(Schema.Number))
})
const section = { name: "colors", schema: Colors }

const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.orDie(fs.makeTempDirectoryScoped()))

/** Writes a settings file and reads the section. */
const given = (text: string, name = "settings.yaml") =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* folder
    yield* Effect.orDie(fs.writeFileString(`${path}/${name}`, text))
    const settings = yield* SettingsFile.make({ folder: path })
    return yield* Effect.mapError(settings.get(section), ({ code, message }) => ({
      code,
      message: message.replace(`${path}/`, "")
    }))
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

describe("SettingsFile", () => {
  it.effect("reads a section of YAML or JSON, whatever else there is", () =>
    Effect.gen(function* () {
      const value = Option.some({ theme: "dark" as const, sizes: [1, 2] })
      const yaml = "# mine\nother: { x: 1 }\ncolors:\n  theme: dark\n  sizes: [1, 2]\n"
      assert.deepStrictEqual(yield* given(yaml), value)
      assert.deepStrictEqual(yield* given(yaml.replaceAll("\n", "\r\n"), "settings.yml"), value)
      assert.deepStrictEqual(yield* given('{"colors": {"theme": "dark", "sizes": [1, 2]}}', "settings.json"), value)
    })
  )

  it.effect("a section that is not there is not set, and neither is one of an empty file or of none", () =>
    Effect.gen(function* () {
      for (const text of ["", "\n# nothing\n", "other: 1\n"]) assert.isTrue(Option.isNone(yield* given(text)))
      const settings = yield* SettingsFile.make({ folder: "/nowhere/at/all" })
      assert.isTrue(Option.isNone(yield* settings.get(section)))
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.effect("the first of the three names counts", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* folder
      yield* fs.writeFileString(`${path}/settings.json`, '{"colors":{"theme":"light"}}')
      yield* fs.writeFileString(`${path}/settings.yaml`, "colors: { theme: dark }")
      const settings = yield* SettingsFile.make({ folder: path })
      assert.deepStrictEqual(yield* settings.get(section), Option.some({ theme: "dark" as const }))
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  )

  it.effect("an edit counts at once", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* folder
      const settings = yield* SettingsFile.make({ folder: path })
      assert.isTrue(Option.isNone(yield* settings.get(section)))
      yield* fs.writeFileString(`${path}/settings.yaml`, "colors: { theme: dark }")
      assert.deepStrictEqual(yield* settings.get(section), Option.some({ theme: "dark" as const }))
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  )

  const bombs = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`).join("\n")
  const wrong: ReadonlyArray<readonly [what: string, text: string, told: string | RegExp]> = [
    ["no YAML", "colors:\n  theme: [dark\n", /^settings\.yaml:3:1: /],
    ["a key twice", "colors:\n  theme: dark\n  theme: light\n", /^settings\.yaml:3:3: Map keys must be unique/],
    ["no map", "- colors\n", "settings.yaml:1:1: the document is no map of sections"],
    ["two documents", "colors: {}\n---\ncolors: {}\n", /^settings\.yaml:2:1: .*multiple documents/],
    ["a tag", "colors: !!js/function 'x'\n", /^settings\.yaml:1:9: Unresolved tag/],
    ["an alias bomb", `a0: &a0 [x]\n${bombs}\ncolors: {}\n`, /alias/],
    [
      "an unknown key",
      "colors:\n  them: dark\n",
      /^settings\.yaml:2:9: colors\.them is unexpected, expected: "theme" \| "sizes"/
    ],
    [
      "another type",
      "colors:\n  sizes:\n    - 1\n    - two\n",
      /^settings\.yaml:4:7: colors\.sizes\[1\] Expected number/
    ],
    ["another value", "colors: { theme: blue }\n", /^settings\.yaml:1:18: colors\.theme .*"dark"/],
    ["no section", "colors: 7\n", /^settings\.yaml:1:9: colors Expected/]
  ]
  for (const [what, text, told] of wrong) {
    it.effect(`${what} is said with its place`, () =>
      Effect.gen(function* () {
        const { code, message } = yield* Effect.flip(given(text))
        assert.strictEqual(code, "SETTINGS_INVALID")
        if (typeof told === "string") assert.strictEqual(message, told)
        else assert.match(message, told)
      })
    )
  }

  it.effect("a file that cannot be read is said to be one", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* folder
      yield* fs.makeDirectory(`${path}/settings.yaml`)
      const settings = yield* SettingsFile.make({ folder: path })
      const error = yield* Effect.flip(settings.get(section))
      assert.strictEqual(error.code, "SETTINGS_UNREADABLE")
      assert.include(error.message, `${path}/settings.yaml: cannot be read`)
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  )
})

describe("Settings in memory", () => {
  it.effect("are decoded like those of a file", () =>
    Effect.gen(function* () {
      const settings = yield* Settings.Settings
      assert.deepStrictEqual(yield* settings.get(section), Option.some({ theme: "dark" as const }))
      assert.isTrue(Option.isNone(yield* settings.get({ ...section, name: "other" })))
      const error = yield* Effect.flip(settings.get({ name: "colors", schema: Schema.Number }))
      assert.include(error.message, "the given settings: colors Expected number")
    }).pipe(Effect.provide(SettingsMemory.layer({ colors: { theme: "dark" } })))
  )
})
