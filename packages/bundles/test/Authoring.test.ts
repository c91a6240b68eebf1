// An agent that writes presets: what it can look at, where it can write, and who is asked.
import type { Agent } from "@dsh/agent/Agent"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import { textOf } from "@dsh/protocol/Block"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Composed from "./support/Composed.ts"

const { Reply } = LlmScripted

type Call = readonly [name: string, args: object]

/** What the model reads of calls that it makes one after the other. */
const results = (composed: Composed.Composed, agent: Agent, ...calls: ReadonlyArray<Call>) =>
  Effect.gen(function* () {
    const before = agent.session.conversation.messages.length
    for (const [name, args] of calls) yield* composed.script.add(Reply.calls([{ name, arguments: args }]))
    yield* composed.script.add(Reply.text("done"))
    const { reason } = yield* Effect.flatMap(agent.followup("go"), agent.awaitTurn)
    assert.strictEqual(reason.kind, "completed")
    return agent.session.conversation.messages
      .slice(before)
      .flatMap(({ content }) =>
        content.flatMap((block) => (block.type === "tool-result" ? [textOf(block.content)] : []))
      )
  })

const rows = '- id: read\n  name: "@dsh/files/ReadTool"\n'
const write = (preset: string, content: string, file = "agent.yml"): Call => ["preset_write", { preset, file, content }]

const allowing = (composed: Composed.Composed, rule: string) =>
  writeFileSync(join(composed.home, "settings.yaml"), `permission: { rules: { allow: ["${rule}"] } }\n`)

describe("an agent that writes presets", () => {
  it.scopedLive("is a standard one that knows of the two planes and has five tools more", () =>
    Effect.gen(function* () {
      const composed = yield* Composed.make()
      const agent = yield* Composed.agent(composed, "cordis")
      yield* results(composed, agent)
      const { system, tools = [] } = composed.script.requests.at(-1)!.header
      const names = tools.map(({ name }) => name)
      assert.includeMembers(names, ["bash", "edit", "compose_list", "compose_describe", "preset_read", "preset_write"])
      assert.include(names, "preset_validate")
      assert.match(system ?? "", /host plane[^]*preset plane[^]*never edited: begin with a copy/)
      assert.deepInclude(
        (yield* composed.presets.list).find(({ id }) => id === "cordis"),
        { name: "Creative mode", trust: "system", problem: undefined }
      )
    })
  )

  it.scopedLive("sees the rows of both planes, what a plugin takes, and who provides a service", () =>
    Effect.gen(function* () {
      const composed = yield* Composed.make()
      const agent = yield* Composed.agent(composed, "cordis")
      const [list, plugins, row, plugin, service, typo, files] = yield* results(
        composed,
        agent,
        ["compose_list", {}],
        ["compose_list", { plugins: true }],
        ["compose_describe", { name: "repeat-guard" }],
        ["compose_describe", { name: "@dsh/shell/PersistentBashTool" }],
        ["compose_describe", { name: "@dsh/terminal/Terminals" }],
        ["compose_describe", { name: "@dsh/shell/BashTol" }],
        ["preset_read", { preset: "minimal" }]
      )
      assert.match(
        list ?? "",
        /Host plane[^]*- loop: @dsh\/loop\/AgentLoop\n[^]*Your preset:[^]*- authoring: @dsh\/auth/
      )
      assert.include(list, `those of the user are in ${join(composed.home, ".agent-presets")}`)
      assert.include(list, "- minimal (system): Minimal.")
      assert.include(plugins, "- @dsh/terminal/TerminalsLocal: The terminals of each session.")
      assert.match(row ?? "", /^Row repeat-guard, configured with \{\}\n@dsh\/agent\/RepeatGuard: .*[^]*"pollingLimit"/)
      assert.match(
        plugin ?? "",
        /Needs: .*@dsh\/terminal\/Terminals\n[^]*"description":"Milliseconds a command may take/
      )
      assert.match(
        service ?? "",
        /is a service\.\nProvided by: @dsh\/terminal\/TerminalsLocal\nWanted by: .*Persistent/
      )
      assert.match(typo ?? "", /^Error: nothing is called @dsh\/shell\/BashTol; did you mean "@dsh\/shell\/BashTool"\?/)
      assert.match(files ?? "", /of the product: do not edit it\.[^]*complete: true[^]*name: Minimal/)
    })
  )

  it.scopedLive("writes a preset, is told what is wrong with it, puts it right; the next agent can be of it", () =>
    Effect.gen(function* () {
      const composed = yield* Composed.make()
      const agent = yield* Composed.agent(composed, "cordis")
      const told = yield* results(
        composed,
        agent,
        write("mine", '- id: read\n  name: "@dsh/files/ReedTool"\n'),
        write("mine", "name: Mine\nextends: minimal\n", "preset.yml"),
        ["preset_validate", { preset: "mine" }],
        write("mine", rows),
        ["preset_validate", { preset: "mine" }],
        ["preset_read", { preset: "mine" }]
      )
      const folder = join(composed.home, ".agent-presets", "mine")
      assert.match(
        told[0] ?? "",
        /agent\.yml is written\.\nThe preset mine cannot be used:\n.*agent\.yml:1: row "read" names .*ReedTool.*did you mean/
      )
      assert.match(told[2] ?? "", /cannot be used:\n.*agent\.yml:1/)
      assert.strictEqual(told[3], `${folder}/agent.yml is written.\nThe preset mine can be used.`)
      assert.strictEqual(told[4], "The preset mine can be used.")
      assert.include(told[5], `${folder}/agent.yml:\n${rows.trimEnd()}\n\n${folder}/preset.yml:\nname: Mine`)
      assert.deepStrictEqual(readdirSync(folder).sort(), ["agent.yml", "preset.yml"])
      assert.strictEqual(statSync(folder).mode & 0o777, 0o700)
      assert.strictEqual(statSync(join(folder, "agent.yml")).mode & 0o777, 0o600)

      const next = yield* Composed.agent(composed, "mine")
      yield* results(composed, next)
      const { tools = [] } = composed.script.requests.at(-1)!.header
      assert.deepStrictEqual(
        tools.map(({ name }) => name),
        ["bash", "read", "str_replace_editor"]
      )
    })
  )

  it.scopedLive("writes nowhere else", () =>
    Effect.gen(function* () {
      const composed = yield* Composed.make()
      const users = join(composed.home, ".agent-presets")
      const elsewhere = join(composed.project, "elsewhere")
      mkdirSync(users)
      mkdirSync(elsewhere)
      symlinkSync(elsewhere, join(users, "linked"))
      const agent = yield* Composed.agent(composed, "cordis")
      const told = yield* results(
        composed,
        agent,
        ...["../up", "..", "", "a/b", "/abs", "UP"].map((id) => write(id, rows)),
        write("standard", rows),
        write("linked", rows),
        write("mine", rows, "../../settings.yaml"),
        write("mine", "#".repeat(262_145))
      )
      for (const text of told.slice(0, 6)) assert.match(text, /^Error: .*is no id of a preset; an id has lower-case/)
      assert.match(told[6] ?? "", /^Error: preset standard: is part of the product and stays; write under another id/)
      assert.match(told[7] ?? "", /^Error: .*linked: is a link to somewhere else/)
      assert.match(told[8] ?? "", /^Error: invalid arguments for preset_write: file/)
      assert.match(told[9] ?? "", /^Error: .*that is too long; write no more than 262144 bytes/)
      assert.deepStrictEqual(readdirSync(users), ["linked"])
      assert.deepStrictEqual(readdirSync(elsewhere), [])
    })
  )

  it.scopedLive(
    "is asked about where access is not full: with nobody there it is refused, unless a rule allows it",
    () =>
      Effect.gen(function* () {
        const composed = yield* Composed.make({ permission: "workspace-write" })
        const agent = yield* Composed.agent(composed, "cordis")
        const file = join(composed.home, ".agent-presets", "mine", "agent.yml")
        const [refused, seen] = yield* results(composed, agent, write("mine", rows), [
          "preset_read",
          { preset: "minimal" }
        ])
        assert.strictEqual(
          refused,
          "Error: this call needs an approval and nobody is there to give it (no rule allows writing presets; the user can allow it: dsh permission allow 'preset_write')"
        )
        assert.match(seen ?? "", /^It is a preset of the product/)
        assert.isFalse(existsSync(file))
        allowing(composed, "preset_write(preset:other)")
        assert.match((yield* results(composed, agent, write("mine", rows)))[0] ?? "", /^Error: .*approval/)
        allowing(composed, "preset_write")
        assert.match(
          (yield* results(composed, agent, write("mine", rows)))[0] ?? "",
          /is written\.\nThe preset mine can be/
        )
        assert.strictEqual(readFileSync(file, "utf8"), rows)
      })
  )

  it.scopedLive("changes nothing in a session that may not", () =>
    Effect.gen(function* () {
      const composed = yield* Composed.make({ permission: "read-only" })
      allowing(composed, "preset_write")
      const agent = yield* Composed.agent(composed, "cordis")
      assert.deepStrictEqual(yield* results(composed, agent, write("mine", rows)), [
        "Error: writing presets is a change, and this session may change nothing (its permission preset is read-only)"
      ])
      assert.isFalse(existsSync(join(composed.home, ".agent-presets")))
    })
  )
})
