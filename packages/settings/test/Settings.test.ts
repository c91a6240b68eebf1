// The two keepers of settings by one contract, and what only a file has.
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { FileSystem } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, Option, Schema, Stream } from "effect"
import type { Scope } from "effect"
import { stringify } from "yaml"
import type { Settings, Update } from "../src/Settings.ts"
import * as SettingsFile from "../src/SettingsFile.ts"
import * as SettingsMemory from "../src/SettingsMemory.ts"
import * as SettingsContract from "./support/SettingsContract.ts"

SettingsContract.suite("SettingsMemory", (document) => Effect.succeed(SettingsMemory.layer(document)))

for (const [name, write] of [
  ["settings.yaml", stringify],
  ["settings.json", JSON.stringify]
] as const) {
  SettingsContract.suite(`SettingsFile with ${name}`, (document) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFileString(`${folder}/${name}`, write(document))
      return Layer.provide(SettingsFile.layer({ folder }), NodeFileSystem.layer)
    }).pipe(Effect.provide(NodeFileSystem.layer), Effect.orDie)
  )
}

const colors = {
  name: "colors",
  schema: Schema.Struct({ theme: Schema.optional(Schema.Literal("dark", "light")) })
}

/** A folder with settings, what keeps them, and the file itself. */
const withFile = <A, E>(
  text: string | undefined,
  use: (settings: Settings["Type"], file: string, fs: FileSystem.FileSystem) => Effect.Effect<A, E, Scope.Scope>
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const file = `${folder}/settings.yaml`
    if (text !== undefined) yield* fs.writeFileString(file, text)
    return yield* use(yield* SettingsFile.make({ folder }), file, fs)
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

describe("SettingsFile", () => {
  it.live("keeps comments, order and unknown sections, and is nobody else's to read", () =>
    withFile("# mine\nother: { a: 1 } # keep\ncolors:\n  # eyes\n  theme: light\n", (settings, file, fs) =>
      Effect.gen(function* () {
        yield* settings.register(colors)
        yield* settings.replace("colors", { theme: "dark" })
        assert.strictEqual(
          yield* fs.readFileString(file),
          "# mine\nother: { a: 1 } # keep\ncolors:\n  # eyes\n  theme: dark\n"
        )
        assert.strictEqual((yield* fs.stat(file)).mode & 0o777, 0o600)
      })
    )
  )

  it.live("is made as YAML by the first write", () =>
    withFile(undefined, (settings, file, fs) =>
      Effect.gen(function* () {
        yield* settings.register(colors)
        yield* settings.update("colors", { theme: "dark" })
        assert.strictEqual(yield* fs.readFileString(file), "colors:\n  theme: dark\n")
      })
    )
  )

  it.live("a write that is refused leaves every byte", () =>
    withFile("colors:   {theme:   light}", (settings, file, fs) =>
      Effect.gen(function* () {
        yield* settings.register(colors)
        yield* Effect.flip(settings.update("colors", { theme: "pink" }))
        assert.strictEqual(yield* fs.readFileString(file), "colors:   {theme:   light}")
      })
    )
  )

  it.live("names the place of what does not fit", () =>
    withFile("a: 1\ncolors:\n  theme: pink\n", (settings, file) =>
      Effect.gen(function* () {
        const failure = yield* Effect.flip(settings.register(colors))
        assert.deepInclude(failure, { code: "SETTINGS_INVALID", file, line: 3, column: 10, path: "colors.theme" })
      })
    )
  )

  it.live("keeps the last good value while an edit does not fit, says so once, and goes on afterwards", () => {
    const logged: Array<string> = []
    const logger = Logger.make<unknown, void>(({ message }) => void logged.push(String(message)))
    return withFile("colors: {theme: light}", (settings, file, fs) =>
      Effect.gen(function* () {
        const { current } = yield* settings.register(colors)
        yield* fs.writeFileString(file, "colors: {theme: [")
        assert.deepStrictEqual(yield* current, { theme: "light" })
        assert.deepStrictEqual(yield* current, { theme: "light" })
        assert.lengthOf(logged, 1)
        assert.match(logged[0] ?? "", /settings\.yaml:1:\d+: .*stays in force/)
        yield* fs.writeFileString(file, "colors: {theme: dark}")
        assert.deepStrictEqual(yield* current, { theme: "dark" })
      })
    ).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
  })

  it.live("tells of edits by others: of a section, of the rest of the document, and of a fault", () =>
    withFile("colors: {theme: light}", (settings, file, fs) =>
      Effect.gen(function* () {
        yield* settings.register(colors)
        const heard: Array<Update["_tag"]> = []
        const listening = yield* Effect.fork(
          Stream.runForEach(settings.updates, ({ _tag }) => Effect.sync(() => heard.push(_tag)))
        )
        let n = 0
        /** Writes one text after the other, as slowly as people do, until what is told ends like this. */
        const until = (text: (n: number) => string, ...end: ReadonlyArray<Update["_tag"]>) =>
          Effect.repeat(
            Effect.zipRight(
              Effect.suspend(() => fs.writeFileString(file, text((n += 1)))),
              Effect.sleep("150 millis")
            ),
            { until: () => heard.slice(-end.length).join() === end.join() }
          )
        yield* until((n) => `colors: {theme: ${n % 2 === 0 ? "dark" : "light"}}`, "Section", "Document")
        yield* until((n) => `colors: {theme: dark} # ${n}`, "Document", "Document")
        yield* until((n) => `colors: {theme: ${n}}}`, "Fault")
        yield* Fiber.interrupt(listening)
      })
    )
  )

  it.live("nothing is there to be watched, and nothing to be read, and that is no fault", () =>
    Effect.gen(function* () {
      const settings = yield* SettingsFile.make({ folder: "/nowhere/at/all" })
      const { current } = yield* settings.register(colors)
      assert.deepStrictEqual(yield* current, {})
      assert.isTrue(Option.isNone(yield* Stream.runHead(Stream.interruptAfter(settings.updates, "300 millis"))))
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  )
})
