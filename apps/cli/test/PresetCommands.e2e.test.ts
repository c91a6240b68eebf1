// The kinds of agents there are: listed, looked at, judged, copied and removed from the command line.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { dsh } from "./support/Dsh.ts"

const home = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "dsh-preset-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => {
    const users = join(folder, "home", ".agent-presets")
    return {
      folder,
      users,
      run: (...args: ReadonlyArray<string>) =>
        Effect.promise(() => dsh(["preset", ...args], { cwd: folder, env: { DSH_HOME: join(folder, "home") } })),
      write: (id: string, files: Readonly<Record<string, string>>) => {
        mkdirSync(join(users, id), { recursive: true })
        for (const [name, text] of Object.entries(files)) writeFileSync(join(users, id, name), text)
      }
    }
  }
)

const broken = {
  "preset.yml": "name: Broken\nextends: standard\n",
  "agent.yml": '- id: shells\n  name: "@dsh/terminal/TerminalsLocal"\n- id: bsh\n  name: "@dsh/shell/BashTol"\n'
}

describe("dsh preset", () => {
  it.scopedLive("copies a preset, which can then be used, looked at and removed", () =>
    Effect.gen(function* () {
      const { run, users } = yield* home
      const copied = yield* run("copy", "minimal", "mine")
      assert.strictEqual(copied.code, 0, copied.stderr)
      const folder = join(users, "mine")
      assert.strictEqual(copied.stdout, `${folder}\n`)
      assert.strictEqual(statSync(folder).mode & 0o777, 0o700)
      assert.strictEqual((yield* run("validate", "mine")).stdout, "preset mine can be used\n")

      const shown = yield* run("show", "mine")
      assert.include(shown.stdout, `mine  mine  (user)\nTwo tools and one sentence`)
      assert.match(shown.stdout, /\n {4}bash {2}@dsh\/shell\/PersistentBashTool {2}\(.*mine\/agent\.yml:\d+\)\n/)

      assert.strictEqual((yield* run("copy", "standard", "mine")).code, 3)
      const asked = yield* run("remove", "mine")
      assert.deepInclude(asked, { code: 2, stdout: "" })
      assert.match(asked.stderr, /nobody can be asked here; "dsh preset remove mine --yes"/)
      assert.isTrue(existsSync(folder))
      assert.strictEqual((yield* run("remove", "--yes", "mine")).code, 0)
      assert.deepStrictEqual(readdirSync(users), [])
      const shipped = yield* run("remove", "--yes", "minimal")
      assert.deepInclude(shipped, { code: 3, stdout: "" })
      assert.match(shipped.stderr, /is part of the product and stays/)
    })
  )

  it.scopedLive("lists what cannot be used with its reason, and says what is ignored", () =>
    Effect.gen(function* () {
      const { run, users, write } = yield* home
      write("broken", { ...broken, "agent.cordis.yml": "[]\n" })
      write("standard", {})
      write("Not An Id", {})
      const listed = yield* run("list", "--json")
      assert.strictEqual(listed.code, 0, listed.stderr)
      const presets = listed.stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, string>)
      assert.deepInclude(presets[0], { id: "standard", trust: "system", name: "Standard" })
      assert.notProperty(presets[0], "problem")
      const [own, ...others] = presets.filter(({ trust }) => trust === "user")
      assert.deepStrictEqual(others, [])
      assert.deepInclude(own, { id: "broken", name: "Broken", folder: join(users, "broken") })
      assert.match(own?.["problem"] ?? "", /agent\.yml:3: row "bsh" names the plugin .*; did you mean "@dsh\/shell/)
      assert.include((yield* run("list")).stdout, "\n  cannot be used: ")
      assert.include(listed.stderr, `${users}/standard is not used: "standard" is a preset of the product`)
      assert.include(listed.stderr, `${users}/Not An Id is no preset`)
      assert.include(
        listed.stderr,
        "agent.cordis.yml belongs to another edition and is ignored; ours is called agent.yml"
      )
    })
  )

  it.scopedLive("says all that is wrong, file by file and line by line, of one, of a folder, of all", () =>
    Effect.gen(function* () {
      const { folder, run, users, write } = yield* home
      const file = join(users, "broken", "agent.yml")
      write("broken", {
        "preset.yml": "name: Broken\nextend: standard\n",
        "agent.yml": `${broken["agent.yml"]}  confg: {}\n`
      })
      const first = yield* run("validate", "broken")
      assert.deepInclude(first, { code: 3, stderr: "" })
      const lines = first.stdout.trimEnd().split("\n")
      assert.lengthOf(lines, 2)
      assert.match(lines[0] ?? "", /broken\/preset\.yml:2: extend does not fit/)
      assert.strictEqual(lines[1], `${file}:5: row "bsh" has an unknown key "confg"; did you mean "config"?`)

      // What a service needs is judged against the composition that it would be a part of.
      write("broken", {
        "preset.yml": "extends: standard\n",
        "agent.yml": '- id: shells\n  name: "@dsh/terminal/TerminalsLocal"\n'
      })
      const outside = yield* run("validate", join(users, "broken"))
      assert.strictEqual(outside.code, 3)
      assert.match(
        outside.stdout,
        /agent\.yml:1: row "shells" provides .*Terminals outside of an isolated group; put it/
      )

      const all = yield* run("validate")
      assert.strictEqual(all.code, 3)
      assert.include(
        all.stdout,
        "preset standard can be used\npreset ptc can be used\npreset minimal can be used\npreset cordis can be used\n"
      )
      assert.include(all.stdout, `${file}:1: row "shells"`)

      const typo = yield* run("validate", "standrd")
      assert.strictEqual(typo.code, 3)
      assert.match(typo.stdout, /there is no preset "standrd"; did you mean "standard"\?/)
      assert.match(
        (yield* run("validate", join(folder, "Home"))).stdout,
        /Home: the name of the folder is no id of a preset/
      )
      // Nothing was started for any of it: what runs keeps sessions there.
      assert.deepStrictEqual(readdirSync(join(folder, "home")), [".agent-presets"])
      assert.strictEqual(readFileSync(file, "utf8"), '- id: shells\n  name: "@dsh/terminal/TerminalsLocal"\n')
    })
  )
})
