// The commands that every front-end has.
import { ModelSelection } from "@dsh/agent/ModelSelection"
import * as LlmScripted from "@dsh/llm/LlmScripted"
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
      assert.match(text, /^\/help +List the commands\.\n\/model .* {2}Say which/)
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
