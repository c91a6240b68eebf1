// The commands that every front-end has.
import { ModelSelection } from "@dsh/agent/ModelSelection"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import { PermissionPresets } from "@dsh/permission/PermissionPresets"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Commands from "../src/Commands.ts"
import { make, ofType, world } from "./support.ts"

const said = (agent: Effect.Effect.Success<typeof make>, line: string) =>
  Effect.flatMap(Commands.Commands, (commands) =>
    Effect.map(commands.run(agent, line, { source: "test" }), (result) => Option.getOrThrow(result))
  )

describe("/help", () => {
  it.scoped("lists the commands with what they take", () =>
    Effect.gen(function* () {
      const { text = "" } = yield* said(yield* make, "/help")
      assert.match(text, /^\/help +List the commands\.\n\/model \[.*\n\/permission \[PRESET\] +Say how far/)
    }).pipe(Effect.provide(world()))
  )
})

describe("/permission", () => {
  it.scoped("says what holds, changes it, and names what there is when it is told nonsense", () =>
    Effect.gen(function* () {
      const agent = yield* make
      const presets = yield* PermissionPresets
      assert.match((yield* said(agent, "/permission")).text ?? "", /^ {2}read-only: .*\n\* workspace-write: /)
      assert.strictEqual((yield* said(agent, "/permission read-only")).kind, "success")
      assert.strictEqual(presets.current(agent.session), "read-only")
      assert.deepStrictEqual(yield* said(agent, "/permission nonsense"), {
        kind: "error",
        text: `there is no permission preset "nonsense"; use one of read-only, workspace-write, danger-full-access`
      })
      assert.lengthOf(ofType(agent.session, "command/done"), 3)
    }).pipe(Effect.provide(world()))
  )
})

describe("/model", () => {
  it.scoped("says what is used, and uses another from the next request on", () =>
    Effect.gen(function* () {
      const agent = yield* make
      const selection = yield* ModelSelection
      assert.include((yield* said(agent, "/model")).text, `* ${LlmScripted.provider}/${LlmScripted.model}`)
      yield* said(agent, "/model newer")
      assert.deepStrictEqual(selection.get(agent), { provider: LlmScripted.provider, model: "newer" })
      yield* said(agent, `/model ${LlmScripted.provider}/newest high`)
      assert.deepInclude(selection.get(agent), { model: "newest", reasoningEffort: "high" })
      const { text } = yield* said(agent, `/model ${LlmScripted.model} high`)
      assert.strictEqual(text, `${LlmScripted.model} has no efforts to choose from`)
      assert.strictEqual((yield* said(agent, "/model a b c")).kind, "error")
      yield* said(agent, "/model some/where")
      const { reason } = yield* Effect.flatMap(agent.followup("go"), agent.awaitTurn)
      assert.strictEqual(reason.kind, "completed")
      assert.strictEqual(ofType(agent.session, "request/header")[0]?.header.config.model, "some/where")
    }).pipe(Effect.provide(world([LlmScripted.Reply.text("done")])))
  )
})
