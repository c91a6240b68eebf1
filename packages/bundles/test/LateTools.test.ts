// Every tool that is told of before its module is loaded is in that module.
import { CallId } from "@dsh/protocol/Ids"
import { Tools } from "@dsh/tools/Tools"
import type { ToolContext } from "@dsh/tools/Tool"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Either } from "effect"
import { cards } from "../src/ToolCards.ts"
import * as Composed from "./support/Composed.ts"

const told = Object.values(cards)
  .flatMap(({ tools }) => tools.map(({ name }) => name))
  .sort()

const context: ToolContext = {
  callId: CallId("call"),
  rootCallId: CallId("call"),
  token: Symbol("call"),
  session: undefined,
  cwd: "/",
  deferContext: () => Effect.void,
  concludeTurn: Effect.void
}

describe("tools that are loaded late", () => {
  it.scopedLive("are there when they are called", () =>
    Effect.gen(function* () {
      const { agents, project } = yield* Composed.make()
      const agent = yield* agents.create({ cwd: project })
      const tools = Context.unsafeGet(agent.realm, Tools)
      const late = tools.list().filter(({ load }) => load !== undefined)
      assert.deepStrictEqual(
        late.map(({ name }) => name),
        told
      )
      for (const tool of late) {
        const answer = yield* Effect.either(tool.run("no arguments", { ...context, cwd: project }))
        assert.strictEqual(Either.isLeft(answer) ? answer.left.code : "it ran", "INVALID_ARGS", tool.name)
      }
    })
  )
})
