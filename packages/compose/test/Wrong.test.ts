// Compositions that are wrong, each in one way: the error names the file, the row and what to do.
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Compose from "../src/Compose.ts"
import * as PatchFile from "../src/PatchFile.ts"
import { House, means } from "./support.ts"

interface Wrong {
  readonly name: string
  readonly yaml: string
  readonly code: string
  /** After the name of the file. */
  readonly says: RegExp
}

const table: ReadonlyArray<Wrong> = [
  {
    name: "text that is no YAML",
    yaml: "- insert:\n  - { id: a, name: clock",
    code: "INVALID_YAML",
    says: /^:\d: the file is no YAML: .*; correct it there/
  },
  { name: "a key that is written twice", yaml: "- id: a\n  id: b\n", code: "INVALID_YAML", says: /^:2: .*unique/ },
  { name: "an empty file", yaml: "# nothing\n", code: "INVALID_PATCH", says: /: the file is empty; write \[\]/ },
  {
    name: "a map where a list belongs",
    yaml: "id: a\n",
    code: "INVALID_PATCH",
    says: /no list of entries; write "- "/
  },
  { name: "an entry that is a word", yaml: "- clock\n", code: "INVALID_PATCH", says: /^:1: the entry is no map/ },
  {
    name: "rows that are no list",
    yaml: "- insert: { id: a }\n",
    code: "INVALID_PATCH",
    says: /^:1: insert is no list/
  },
  {
    name: "a row that is a word",
    yaml: "- insert:\n    - clock\n",
    code: "INVALID_PATCH",
    says: /^:2: the row is no map of keys; write \{ id: …, name: … \}/
  },
  {
    name: "an entry that inserts and changes",
    yaml: "- { id: a, insert: [], disabled: true }\n",
    code: "INVALID_PATCH",
    says: /row "a" is inserted into and changed \(disabled\) by one entry; make two/
  },
  {
    name: "a row without id",
    yaml: "- insert: [{ name: clock }]\n",
    code: "INVALID_ROW",
    says: /the row of clock has no id; give/
  },
  {
    name: "an id with a space",
    yaml: "- insert: [{ id: a b, name: clock }]\n",
    code: "INVALID_ROW",
    says: /the id "a b"; give/
  },
  {
    name: "a row without plugin",
    yaml: "- insert: [{ id: a }]\n",
    code: "INVALID_ROW",
    says: /row "a" names no plugin; add name/
  },
  {
    name: "a number for a name",
    yaml: "- insert: [{ id: a, name: 7 }]\n",
    code: "INVALID_ROW",
    says: /row "a" has a name that is no text/
  },
  {
    name: "a group with a name",
    yaml: "- insert: [{ id: a, name: clock, group: [] }]\n",
    code: "INVALID_ROW",
    says: /row "a" is a group with a name/
  },
  {
    name: "a switch that is none",
    yaml: "- insert: [{ id: a, name: clock, disabled: maybe }]\n",
    code: "INVALID_ROW",
    says: /row "a" is disabled: "maybe"; write true or false/
  },
  {
    name: "an isolate that is no switch",
    yaml: "- insert: [{ id: a, isolate: 3, group: [] }]\n",
    code: "INVALID_ROW",
    says: /row "a" has an isolate/
  },
  {
    name: "a config that is a list",
    yaml: "- insert: [{ id: a, name: clock, config: [1] }]\n",
    code: "INVALID_ROW",
    says: /row "a" has a config that is no map/
  },
  {
    name: "an unknown key of a row",
    yaml: "- insert: [{ id: a, nam: clock }]\n",
    code: "UNKNOWN_ROW_KEY",
    says: /^:1: row "a" has an unknown key "nam"; did you mean "name"\?/
  },
  {
    name: "a key of another edition",
    yaml: "- insert: [{ id: a, name: clock, inject: [x] }]\n",
    code: "UNKNOWN_ROW_KEY",
    says: /"inject"; that key belongs to another edition/
  },
  {
    name: "an unknown key of an entry",
    yaml: "- { id: a, disable: true }\n",
    code: "UNKNOWN_ROW_KEY",
    says: /"disable"; did you mean "disabled"\?/
  },
  {
    name: "an id that is taken",
    yaml: "- insert:\n    - { id: a, name: clock }\n    - { id: a, name: lamp }\n",
    code: "DUPLICATE_ID",
    says: /^:3: row "a" has the id of a row in .*:2; give it another/
  },
  {
    name: "code where data belongs",
    yaml: "- insert: [{ id: a, name: clock, config: { zone: !!js process.env.TZ } }]\n",
    code: "INVALID_DYNAMIC",
    says: /^:1: .*js.*there are !env, !home, !cwd and !platform.*; configuration is data/
  },
  {
    name: "a dynamic value nobody knows",
    yaml: "- insert: [{ id: a, name: clock, config: { zone: !shell date } }]\n",
    code: "INVALID_DYNAMIC",
    says: /!shell/
  },
  {
    name: "a variable with a space",
    yaml: "- insert: [{ id: a, name: clock, config: { zone: !env my zone } }]\n",
    code: "INVALID_DYNAMIC",
    says: /!env takes the name of a variable, not "my zone"/
  },
  {
    name: "a variable with too much",
    yaml: "- insert: [{ id: a, name: clock, config: { zone: !env { name: Z, fallback: y } } }]\n",
    code: "INVALID_DYNAMIC",
    says: /!env takes \{ name: VARIABLE, default: VALUE \}/
  },
  {
    name: "a path out of the home folder",
    yaml: "- insert: [{ id: a, name: clock, config: { zone: !home ../x } }]\n",
    code: "INVALID_DYNAMIC",
    says: /!home takes a path under that folder/
  },
  {
    name: "a plugin that is mistyped",
    yaml: "- insert: [{ id: a, name: clok }]\n",
    code: "UNKNOWN_PLUGIN",
    says: /^:1: row "a" names the plugin clok, which is nowhere; did you mean "clock"\?/
  },
  {
    name: "a plugin that is not there",
    yaml: "- insert: [{ id: a, name: weather-station }]\n",
    code: "UNKNOWN_PLUGIN",
    says: /add it with "dsh plugin --profile NAME add weather-station"/
  },
  {
    name: "an option that is mistyped",
    yaml: "- insert: [{ id: a, name: clock, config: { zoe: x } }]\n",
    code: "UNKNOWN_OPTION",
    says: /^:1: row "a" sets "zoe", which clock does not know; did you mean "zone"\?/
  },
  {
    name: "an inner option that is mistyped",
    yaml: "- insert: [{ id: a, name: clock, config: { display: { digits: 4, digit: 5 } } }]\n",
    code: "UNKNOWN_OPTION",
    says: /sets "display.digit".*did you mean "digits"\?/
  },
  {
    name: "an option of a plugin that has none",
    yaml: "- insert: [{ id: c, name: clock }, { id: a, name: lamp, config: { bright: 1 } }]\n",
    code: "UNKNOWN_OPTION",
    says: /row "a" sets "bright".*takes no options: remove its config/
  },
  {
    name: "an option of another type",
    yaml: "- insert: [{ id: a, name: clock, config: { zone: 5 } }]\n",
    code: "INVALID_CONFIG",
    says: /row "a" has a config with "zone" that does not fit: Expected string, actual 5; correct it/
  },
  {
    name: "a number out of range",
    yaml: "- insert: [{ id: a, name: clock, config: { display: { digits: 9 } } }]\n",
    code: "INVALID_CONFIG",
    says: /"display.digits" that does not fit: .*between 4 and 8/
  },
  {
    name: "an option that is missing",
    yaml: "- insert: [{ id: a, name: toaster }]\n",
    code: "INVALID_CONFIG",
    says: /"minutes" that does not fit: is missing/
  },
  {
    name: "a variable that is not set",
    yaml: "- insert: [{ id: a, name: toaster, config: { minutes: !env TOAST } }]\n",
    code: "INVALID_CONFIG",
    says: /"minutes".*is missing \(it reads TOAST\)/
  },
  {
    name: "a wrong value in a later patch",
    yaml: "- insert: [{ id: a, name: clock }]\n- id: a\n  config: { zone: 5 }\n",
    code: "INVALID_CONFIG",
    says: /^:2: row "a"/
  },
  {
    name: "a service that nobody provides",
    yaml: "- insert: [{ id: a, name: lamp }]\n",
    code: "MISSING_SERVICE",
    says: /row "a" needs test\/Clock, which nobody provides; add a row of clock/
  },
  {
    name: "a service of a row that is switched off",
    yaml: "- insert: [{ id: c, name: clock, disabled: true }, { id: a, name: lamp }]\n",
    code: "MISSING_SERVICE",
    says: /row "a" needs test\/Clock.*; row "c" \(.*:1\) provides it: enable that/
  },
  {
    name: "a service that is private to a group",
    yaml: "- insert: [{ id: g, isolate: true, group: [{ id: c, name: clock }] }, { id: a, name: lamp }]\n",
    code: "MISSING_SERVICE",
    says: /row "a" needs test\/Clock/
  },
  {
    name: "two that provide the same",
    yaml: "- insert: [{ id: a, name: clock }, { id: b, name: sundial }]\n",
    code: "DUPLICATE_SERVICE",
    says: /row "b" provides test\/Clock, and so does row "a" \(.*\); disable one/
  },
  {
    name: "two that need each other",
    yaml: "- insert: [{ id: a, name: chicken }, { id: b, name: egg }]\n",
    code: "CYCLE",
    says: /row "a" needs itself, by way of "b" \(.*\), "a" \(.*\); disable one/
  },
  {
    name: "a part that fails to start",
    yaml: "- insert: [{ id: a, name: toaster, config: { minutes: 9 } }]\n",
    code: "BURNT",
    says: /^$/
  }
]

const at = <A, E, R>(yaml: string, use: (file: string) => Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "dsh-compose-"))),
    (folder) => {
      const file = join(folder, "dsh.patch.yml")
      writeFileSync(file, yaml)
      return use(file)
    },
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  )

const start = (file: string) =>
  Effect.gen(function* () {
    const layer = yield* PatchFile.read(file)
    const composed = yield* Compose.compose({ layers: [layer], means })
    return yield* Compose.start(composed)
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

describe("a wrong composition", () => {
  for (const { code, name, says, yaml } of table) {
    it.effect(`${name}: ${code}`, () =>
      at(yaml, (file) =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(start(file))
          assert.strictEqual(error.code, code, error.message)
          assert.include(error.message, file)
          if (code === "BURNT") {
            assert.match(error.message, /^the toast is black; take 3 minutes \(row "a" of .*:1; nothing was started\)$/)
          } else assert.match(error.message.split(file).slice(1).join(file), says)
          assert.notInclude(error.message, "\n")
        })
      )
    )
  }

  it.effect("a file that is not there is told by its name", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(start("/nowhere/x.yml"))
      assert.deepStrictEqual(
        [error.code, error.message],
        ["PATCH_NOT_FOUND", "/nowhere/x.yml: there is no such file; check the path after --patch"]
      )
    })
  )

  it.effect.skipIf(process.getuid?.() === 0)("a file that may not be read", () =>
    at("[]\n", (file) =>
      Effect.gen(function* () {
        chmodSync(file, 0)
        assert.strictEqual((yield* Effect.flip(start(file))).code, "PATCH_UNREADABLE")
      })
    )
  )

  it.effect("tells everything that is wrong at once, a line each", () =>
    at("- insert: [{ id: a, nam: clock }, { id: b }, { name: lamp }]\n", (file) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(start(file))
        assert.lengthOf(error.message.split("\n"), 3)
      })
    )
  )

  it.effect("that lacks what it is for says so, and what is switched off", () =>
    at("- insert: [{ id: a, name: clock }, { id: h, name: house, disabled: true }]\n", (file) =>
      Effect.gen(function* () {
        const layer = yield* PatchFile.read(file)
        const needed = { by: "the test", keys: [House] }
        const error = yield* Effect.flip(Compose.compose({ layers: [layer], means, needed }))
        assert.strictEqual(
          error.message,
          "the test: needs test/House, which no row provides; add a row that does, or enable the one that did: h are switched off"
        )
      }).pipe(Effect.provide(Layer.mergeAll(NodeFileSystem.layer)))
    )
  )
})
