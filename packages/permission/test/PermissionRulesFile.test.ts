// Rules in the user's settings and in a project's file, and which of them count.
import { FileSystem } from "@effect/platform"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as PermissionRulesFile from "../src/PermissionRulesFile.ts"
import { folder, rule } from "./support.ts"

const place = (settings: string | undefined, project: string | undefined) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const [home, cwd] = [yield* folder, yield* folder]
    if (settings !== undefined) yield* fs.writeFileString(`${home}/settings.yaml`, settings.replace("CWD", cwd))
    yield* fs.makeDirectory(`${cwd}/.dsh`)
    if (project !== undefined) yield* fs.writeFileString(`${cwd}/.dsh/permissions.yaml`, project)
    const rules = yield* PermissionRulesFile.make({ folder: home, home })
    const told = Effect.map(rules.of(cwd), (book) => ({
      ...book,
      rules: book.rules.map(({ effect, rule }) => `${effect} ${rule.text.replace(cwd, "CWD").replace(home, "HOME")}`)
    }))
    return { rules, told, home, cwd, fs }
  })

const run = <A, E>(effect: Effect.Effect<A, E, FileSystem.FileSystem | import("effect/Scope").Scope>) =>
  effect.pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

const mine = "permission:\n  rules:\n    allow: [bash(ls *)]\n    deny: [bash(rm *)]\n"
const theirs = "allow: [bash(make)]\nask: [bash(git push *)]\ndeny: [read(.env)]\n"

describe("the rules in force", () => {
  it.effect("are the user's, and those of the project that tighten them", () =>
    run(
      Effect.gen(function* () {
        const { cwd, told } = yield* place(mine, theirs)
        const book = yield* told
        assert.deepStrictEqual(book.rules, [
          "allow bash(ls *)",
          "deny bash(rm *)",
          "ask bash(git push *)",
          "deny read(.env)",
          "ask edit(CWD/.dsh/permissions.yaml)",
          "ask edit(HOME/settings.yaml)"
        ])
        assert.lengthOf(book.notices, 1)
        assert.include(book.notices[0], `add ${cwd} to permission.trustedProjects`)
      })
    )
  )

  it.effect("are all of the project's where the user trusts its folder", () =>
    run(
      Effect.gen(function* () {
        const { told } = yield* place(`${mine}  trustedProjects: ["CWD/"]\n`, theirs)
        const book = yield* told
        assert.include(book.rules, "allow bash(make)")
        assert.deepStrictEqual(book.notices, [])
      })
    )
  )

  it.effect("are none without files, and where the settings are about something else", () =>
    run(
      Effect.gen(function* () {
        for (const settings of [undefined, "prices: {}\n"]) {
          const { told } = yield* place(settings, undefined)
          assert.deepStrictEqual((yield* told).rules, [])
        }
      })
    )
  )

  it.effect("follow an edit at once, and name the place of what is no rule", () =>
    run(
      Effect.gen(function* () {
        const { cwd, fs, home, told } = yield* place(mine, undefined)
        assert.include((yield* told).rules, "deny bash(rm *)")
        yield* fs.writeFileString(`${home}/settings.yaml`, mine.replace("bash(rm *)", "bash(rm:*)"))
        const error = yield* Effect.flip(told)
        assert.strictEqual(
          error.message,
          `${home}/settings.yaml:4:12: permission.rules.deny[0] bash(rm:*) ends in :*; a space and a star stand for further words`
        )
        yield* fs.writeFileString(`${home}/settings.yaml`, mine)
        yield* fs.writeFileString(`${cwd}/.dsh/permissions.yaml`, "deny:\n  - bash(\n")
        assert.match((yield* Effect.flip(told)).message, /permissions\.yaml:2:5: deny\[0\] bash\( is no rule/)
      })
    )
  )

  it.effect("can be added and taken away without touching anything else", () =>
    run(
      Effect.gen(function* () {
        const { fs, home, rules } = yield* place(`# mine\n${mine}other: 1 # kept\n`, undefined)
        const text = fs.readFileString(`${home}/settings.yaml`)
        const before = yield* text
        yield* rules.add("deny", rule("read(~/.ssh/**)"))
        yield* rules.add("deny", rule("read(~/.ssh/**)"))
        assert.strictEqual(
          yield* text,
          before.replace("[bash(rm *)]", "[ bash(rm *), read(~/.ssh/**) ]").replace("[bash(ls *)]", "[ bash(ls *) ]")
        )
        assert.isTrue(yield* rules.remove(rule("read(~/.ssh/**)")))
        assert.isFalse(yield* rules.remove(rule("read(~/.ssh/**)")))
        assert.include(yield* text, "deny: [ bash(rm *) ]")
        assert.include(yield* text, "other: 1 # kept")
      })
    )
  )

  it.effect("begin with a file of their own where there is none", () =>
    run(
      Effect.gen(function* () {
        const { fs, home, rules, told } = yield* place(undefined, undefined)
        yield* rules.add("allow", rule('bash(git commit -m "a b")'))
        assert.include((yield* told).rules, 'allow bash(git commit -m "a b")')
        assert.strictEqual((yield* fs.stat(`${home}/settings.yaml`)).mode & 0o777, 0o600)
      })
    )
  )
})
