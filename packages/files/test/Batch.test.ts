// Several calls on one file in one batch, run by the real scheduler.
import { Agents } from "@dsh/agent/Agents"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import { textOf } from "@dsh/protocol/Block"
import * as BashLocal from "@dsh/shell/BashLocal"
import * as BashTool from "@dsh/shell/BashTool"
import * as FsLocal from "@dsh/world/FsLocal"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as EditTool from "../src/EditTool.ts"
import * as ObservedFiles from "../src/ObservedFiles.ts"
import * as ReadTool from "../src/ReadTool.ts"
import * as Sessions from "@dsh/session/Sessions"
import { codeOf, edit as editFile, folder, read, textOf as shown, tools } from "./support.ts"

const world = (script: ReadonlyArray<LlmScripted.Reply.Reply>) =>
  AgentLoop.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(LlmScripted.layer(script), BashTool.layer, ReadTool.layer, EditTool.layer)),
    Layer.provideMerge(
      Layer.mergeAll(BashLocal.layer({}), FsLocal.layer, ObservedFiles.layer).pipe(
        Layer.provide(SubprocessLocal.layer())
      )
    ),
    Layer.provideMerge(Definitions.layer)
  )

const readIt = { name: "read", arguments: { file_path: "f" } }
const edit = (old_string: string, new_string: string) => ({
  name: "edit",
  arguments: { file_path: "f", old_string, new_string }
})
const bash = (command: string) => ({ name: "bash", arguments: { command, description: "Changes the file." } })

/** What a session is told of these batches of calls, and the file afterwards. */
const run = (content: string, ...batches: ReadonlyArray<ReadonlyArray<{ name: string; arguments: object }>>) =>
  Effect.gen(function* () {
    const { dir, put, text } = yield* folder
    put("f", content)
    const agents = yield* Agents
    const agent = yield* agents.create({ cwd: dir, provider: LlmScripted.provider, model: LlmScripted.model })
    yield* Effect.flatMap(agent.followup("go"), agent.awaitTurn)
    const said = Array.from(agent.session.range(0)).flatMap((event) =>
      event.type === "tool/result" ? [textOf(event.data.message.content[0].content)] : []
    )
    return { said, text: text("f") }
  }).pipe(
    Effect.provide(world([...batches.map((calls) => LlmScripted.Reply.calls(calls)), LlmScripted.Reply.text("done")]))
  )

describe("a batch of calls on one file", () => {
  it.scopedLive("the second edit sees what the first made", () =>
    Effect.gen(function* () {
      const { said, text } = yield* run("a\nb\n", [readIt], [edit("a", "x"), edit("x\nb", "x\ny"), edit("b", "z")])
      assert.strictEqual(text, "x\ny\n")
      assert.match(said[1] ?? "", /^edited .*1 replacement at line 1$/)
      assert.match(said[2] ?? "", /^edited /)
      assert.match(said[3] ?? "", /old_string does not occur in it/)
    })
  )

  it.scopedLive(
    "a command that changes it in between is a conflict that shows the change, and nobody's work is lost",
    () =>
      Effect.gen(function* () {
        const { said, text } = yield* run(
          "a\nb\nc\n",
          [readIt],
          [edit("a", "A"), bash("sed -i.bak s/b/B/ f"), edit("a\nb", "x"), edit("B\nc", "B\nC")]
        )
        assert.match(said[3] ?? "", /has changed since you last saw it\. It now reads:\n1: A\n2: B\n3: c\n/)
        // That was a look at it.
        assert.match(said[4] ?? "", /^edited /)
        assert.strictEqual(text, "A\nB\nC\n")
      })
  )

  it.scopedLive("of two agents the second hears what the first made of it", () =>
    Effect.gen(function* () {
      const { dir, put, text } = yield* folder
      const sessions = yield* Sessions.Sessions
      const [one, other] = [yield* sessions.create({ cwd: dir }), yield* sessions.create({ cwd: dir })]
      put("f", "a\nb\nc\n")
      for (const session of [one, other]) yield* read("f", {}, session)
      const both = yield* Effect.all([editFile("f", "a", "A", {}, one), editFile("f", "c", "C", {}, other)], {
        concurrency: 2
      })
      const refused = both.filter(({ isError }) => isError)
      assert.strictEqual(refused.length, 1)
      assert.deepStrictEqual(refused.map(codeOf), ["FS_STALE_VERSION"])
      assert.match(shown(refused[0]!), /1: A|3: C/)
      const [again, session] = both[0]!.isError ? (["a", one] as const) : (["c", other] as const)
      assert.isFalse((yield* editFile("f", again, again.toUpperCase(), {}, session)).isError)
      assert.strictEqual(text("f"), "A\nb\nC\n")
    }).pipe(Effect.provide(Layer.merge(tools, Sessions.layer)))
  )
})
