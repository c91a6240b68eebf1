// Agents of different presets in one process: each has what its preset has, and nothing of the others'.
import type { Agent } from "@dsh/agent/Agent"
import * as Plugin from "@dsh/kernel/Plugin"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import { textOf } from "@dsh/protocol/Block"
import { Terminals } from "@dsh/terminal/Terminals"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Option, Schema, Scope } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as Composed from "./support/Composed.ts"

const { Reply } = LlmScripted

/** What was seen and done by the probes, in order. */
const journal: Array<string> = []

class Lamp extends Context.Tag("test/Lamp")<Lamp, string>() {}

/** A part of the host that can be told something else. */
const lamp = Plugin.make({
  name: "lamp",
  config: Schema.Struct({ color: Schema.String }),
  provides: [Lamp],
  layer: ({ color }) => Layer.succeed(Lamp, color)
})

/** A part of a preset that stands on it. */
const lit = Plugin.make({
  name: "lit",
  requires: [Lamp],
  layer: () => Layer.effectDiscard(Effect.map(Lamp, (color) => journal.push(`lit ${color}`)))
})

/** Tells whether there are terminals where it stands, and when it comes and goes. */
const probe = Plugin.make({
  name: "probe",
  config: Schema.Struct({ name: Schema.String }),
  uses: [Terminals],
  layer: ({ name }) =>
    Layer.scopedDiscard(
      Effect.acquireRelease(
        Effect.map(Effect.serviceOption(Terminals), (found) =>
          journal.push(`+${name} ${Option.isSome(found) ? "has" : "has no"} terminals`)
        ),
        () => Effect.sync(() => journal.push(`-${name}`))
      )
    )
})

const rowOf = (id: string, name: string) => `- id: ${id}\n  name: "${name}"\n`
const probing = (name: string) => `${rowOf(`probe-${name}`, "probe")}  config: { name: ${name} }\n`

const turn = (agent: Agent, text: string) => Effect.flatMap(agent.followup(text), agent.awaitTurn)

/** What the model was told and given with the last request. */
const lastAsked = ({ script }: Composed.Composed) => {
  const { header } = script.requests.at(-1)!
  return { system: header.system, tools: (header.tools ?? []).map(({ name }) => name) }
}

const ask = (composed: Composed.Composed, agent: Agent) =>
  Effect.gen(function* () {
    yield* composed.script.add(Reply.text("done"))
    assert.strictEqual((yield* turn(agent, "hi")).reason.kind, "completed")
    return lastAsked(composed)
  })

const results = (agent: Agent) =>
  agent.session.conversation.messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "tool-result" ? [textOf(block.content)] : []))
  )

const minimal = "You are a helpful software engineer assistant."

describe("agents of different presets", () => {
  it.scopedLive("have their own tools and prompt, and none of each other's", () =>
    Effect.gen(function* () {
      const composed = yield* Composed.make()
      const [standard, small] = [
        yield* Composed.agent(composed, "standard"),
        yield* Composed.agent(composed, "minimal")
      ]
      for (let round = 0; round < 2; round++) {
        const first = yield* ask(composed, standard)
        assert.includeMembers(first.tools, ["bash", "read", "write", "edit", "glob", "grep", "job_list"])
        assert.notInclude(first.tools, "str_replace_editor")
        assert.include(first.system, "a coding agent. You work in the folder")
        assert.notInclude(first.system, minimal)
        const second = yield* ask(composed, small)
        assert.deepStrictEqual(second, { system: minimal, tools: ["bash", "str_replace_editor"] })
      }

      // One name, two tools: the shell of the one goes on, that of the other begins anew.
      const commands = ["cd / && it=kept", "echo $PWD $it"]
      for (const [agent, more] of [[standard, { description: "Look" }] as const, [small, {}] as const]) {
        for (const command of commands) {
          yield* composed.script.add(
            Reply.calls([{ name: "bash", arguments: { command, ...more } }]),
            Reply.text("done")
          )
          yield* turn(agent, command)
        }
      }
      assert.include(results(standard).at(-1), `${composed.project}`)
      assert.notInclude(results(standard).at(-1), "kept")
      assert.match(results(small).at(-1) ?? "", /^\/ kept/)

      // What the one has is no tool for the other.
      yield* composed.script.add(Reply.calls([{ name: "read", arguments: { file_path: "a" } }]), Reply.text("done"))
      yield* turn(small, "read")
      assert.match(results(small).at(-1) ?? "", /^Error: (there is )?no tool/)
      assert.strictEqual(lastAsked(composed).tools.includes("read"), false)
    })
  )

  it.scopedLive("do not see what an isolated group of another provides, and neither does the rest of its own", () =>
    Effect.gen(function* () {
      journal.length = 0
      const composed = yield* Composed.make({ plugins: [probe] })
      const group = `- id: own\n  isolate: true\n  group:\n    ${(
        rowOf("terminals", "@dsh/terminal/TerminalsLocal") + probing("inside")
      )
        .trimEnd()
        .replaceAll("\n", "\n    ")}\n`
      composed.write("with", group + probing("outside"))
      composed.write("without", probing("other"))
      for (const preset of ["minimal", "with", "without"]) yield* Composed.agent(composed, preset)
      assert.deepStrictEqual(journal, ["+inside has terminals", "+outside has no terminals", "+other has no terminals"])
      const host = composed.composition.context() as Context.Context<never>
      assert.isTrue(Option.isNone(Context.getOption(host, Terminals)))
    })
  )

  it.scopedLive("begin as their files are then: a preset that was edited is another one for those who come later", () =>
    Effect.gen(function* () {
      const composed = yield* Composed.make({ plugins: [probe] })
      const read = rowOf("read", "@dsh/files/ReadTool")
      composed.write("base", read)
      composed.write("mine", "[]\n", "extends: base\n")
      const [first, twin] = [yield* Composed.agent(composed, "mine"), yield* Composed.agent(composed, "mine")]
      assert.deepStrictEqual((yield* ask(composed, first)).tools, ["read"])
      composed.write("mine", rowOf("glob", "@dsh/files/GlobTool"), "extends: base\n")
      const second = yield* Composed.agent(composed, "mine")
      assert.deepStrictEqual((yield* ask(composed, second)).tools, ["glob", "read"])
      // What it extends counts as well.
      composed.write("base", read + rowOf("write", "@dsh/files/WriteTool"))
      const third = yield* Composed.agent(composed, "mine")
      assert.deepStrictEqual((yield* ask(composed, third)).tools, ["glob", "read", "write"])
      for (const old of [first, twin]) assert.deepStrictEqual((yield* ask(composed, old)).tools, ["read"])
      assert.deepStrictEqual((yield* ask(composed, second)).tools, ["glob", "read"])
    })
  )

  it.scopedLive("stand on what the host is when they begin, also when a part of it was started again", () =>
    Effect.gen(function* () {
      journal.length = 0
      const host = (color: string) => ({ id: "lamp", name: "lamp", config: { color } })
      const composed = yield* Composed.make({ plugins: [lamp, lit], rows: [host("red")] })
      composed.write("mine", rowOf("lit", "lit"))
      const first = yield* Composed.agent(composed, "mine")
      yield* Composed.agent(composed, "mine")
      assert.deepStrictEqual(journal.splice(0), ["lit red"])
      const summary = yield* composed.change([host("blue")])
      assert.deepStrictEqual(summary, { added: [], removed: [], restarted: ["lamp"] })
      yield* Composed.agent(composed, "mine")
      yield* Composed.agent(composed, "mine")
      assert.deepStrictEqual(journal, ["lit blue"])
      assert.deepStrictEqual((yield* ask(composed, first)).tools, [])
    })
  )

  it.scopedLive("are not begun when their preset cannot be used; it stays listed with the reason", () =>
    Effect.gen(function* () {
      const composed = yield* Composed.make({ plugins: [probe] })
      const refused: ReadonlyArray<readonly [rows: string, info: string, reason: RegExp]> = [
        [
          rowOf("shells", "@dsh/terminal/TerminalsLocal"),
          "",
          /agent\.yml:1: row "shells" provides @dsh\/terminal\/Terminals outside of an isolated group; put it/
        ],
        [
          rowOf("bash", "@dsh/shell/PersistentBashTool"),
          "",
          /row "bash" needs @dsh\/terminal\/Terminals, which nobody provides; add a row of @dsh\/terminal\/TerminalsLocal/
        ],
        ["- id: [\n", "", /agent\.yml:\d+: the file is no YAML/],
        [
          rowOf("bash", "@dsh/shell/BashTool"),
          "extends: standard\n",
          /row "bash" has the id of a row in preset standard/
        ],
        ["[]\n", "extends: mine\n", /preset\.yml:1: extends itself, by way of mine/],
        ["[]\n", "order: first\n", /preset\.yml:1: order does not fit/]
      ]
      for (const [rows, info, reason] of refused) {
        composed.write("mine", rows, info)
        const error = yield* Effect.flip(Composed.agent(composed, "mine"))
        assert.strictEqual(error.code, "PRESET_UNAVAILABLE")
        assert.match(error.message, reason)
        const listed = yield* composed.presets.list
        const mine = listed.find(({ id }) => id === "mine")
        assert.match(mine?.problem ?? "", reason)
        assert.deepInclude(mine, { trust: "user", folder: join(composed.home, ".agent-presets", "mine") })
        for (const { problem, trust } of listed) if (trust === "system") assert.isUndefined(problem)
      }
      assert.deepStrictEqual(composed.agents.list(), [])
      const sessions = join(composed.home, "sessions")
      assert.isFalse(existsSync(sessions), "a session was begun for nothing")
      // Put right, it can be used at once.
      composed.write("mine", probing("well"))
      yield* Composed.agent(composed, "mine")
    })
  )

  it.scopedLive("end with the composition, and all of their presets' generations with them", () =>
    Effect.gen(function* () {
      journal.length = 0
      const scope = yield* Scope.make()
      const composed = yield* Scope.extend(Composed.make({ plugins: [probe] }), scope)
      composed.write("a", probing("a1"))
      composed.write("b", probing("b1"))
      const agents = [yield* Scope.extend(Composed.agent(composed, "a"), scope)]
      composed.write("a", `${probing("a2")}# another\n`)
      for (const id of ["a", "b", "b"]) agents.push(yield* Scope.extend(Composed.agent(composed, id), scope))
      assert.deepStrictEqual(journal.splice(0), [
        "+a1 has no terminals",
        "+a2 has no terminals",
        "+b1 has no terminals"
      ])
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(journal, ["-b1", "-a2", "-a1"])
      for (const agent of agents) {
        assert.strictEqual((yield* Effect.flip(agent.followup("on"))).code, "AGENT_DISPOSED")
      }
    })
  )
})
