// `/permission`: what it says, and what it changes.
import * as Commands from "@dsh/commands/Commands"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import * as Approval from "../src/Approval.ts"
import * as PermissionCommand from "../src/PermissionCommand.ts"
import * as PermissionPresets from "../src/PermissionPresets.ts"
import { make } from "./support.ts"

const world = PermissionCommand.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(AgentLoop.layer, LlmScripted.layer([]), PermissionPresets.layer())),
  Layer.provideMerge(Layer.merge(Approval.layer(), Commands.layer)),
  Layer.provideMerge(Definitions.layer)
)

describe("/permission", () => {
  it.scoped("says what holds, changes it, and names what there is when it is told nonsense", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const commands = yield* Commands.Commands
      const said = (line: string) => Effect.map(commands.run(agent, line, { source: "test" }), Option.getOrThrow)
      const presets = yield* PermissionPresets.PermissionPresets
      assert.match((yield* said("/permission")).text ?? "", /^ {2}read-only: .*\n\* workspace-write: /)
      assert.strictEqual((yield* said("/permission read-only")).kind, "success")
      assert.strictEqual(presets.current(agent.session), "read-only")
      assert.deepStrictEqual(yield* said("/permission nonsense"), {
        kind: "error",
        text: `there is no permission preset "nonsense"; use one of read-only, workspace-write, danger-full-access`
      })
      assert.strictEqual(presets.current(agent.session), "read-only")
    }).pipe(Effect.provide(world))
  )
})
