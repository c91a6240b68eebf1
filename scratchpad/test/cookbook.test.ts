// What the pages of the cookbook promise: each part is merged into an agent, and the agent does it.
import { Agents } from "@dsh/agent/Agents"
import * as EditTool from "@dsh/files/EditTool"
import * as ObservedFiles from "@dsh/files/ObservedFiles"
import * as ReadTool from "@dsh/files/ReadTool"
import * as WriteTool from "@dsh/files/WriteTool"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import { textOf } from "@dsh/protocol/Block"
import * as BashLocal from "@dsh/shell/BashLocal"
import * as BashTool from "@dsh/shell/BashTool"
import type { AskApproval } from "@dsh/tools/ToolHooks"
import * as FsMemory from "@dsh/world/FsMemory"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Metric } from "effect"
import { existsSync } from "node:fs"
import * as Elsewhere from "../cookbook/elsewhere.ts"
import * as Gates from "../cookbook/gates.ts"
import * as Glossary from "../cookbook/glossary/src/GlossaryMemory.ts"
import * as GlossaryTool from "../cookbook/glossary/src/GlossaryTool.ts"
import * as Hooks from "../cookbook/hooks.ts"
import * as Outline from "../cookbook/outline.ts"
import * as OwnShell from "../own-shell.ts"

type Call = readonly [name: string, args: object]

/** A model that makes these calls, one step each, and is done. */
const scripted = (calls: ReadonlyArray<Call>) =>
  LlmScripted.layer([
    ...calls.map(([name, args], i) => LlmScripted.Reply.calls([{ id: `call_${i}`, name, arguments: args }])),
    LlmScripted.Reply.text("Done.")
  ])

/** The loop and that model; the rest is merged in. */
const agent = (...calls: ReadonlyArray<Call>) =>
  Layer.merge(AgentLoop.layer, scripted(calls)).pipe(Layer.provideMerge(Definitions.layer))

/** What the model read of its calls, and how the turn ended. */
const run = (prompt = "Go.", cwd = "/w") =>
  Effect.gen(function* () {
    const made = yield* (yield* Agents).create({ provider: LlmScripted.provider, model: LlmScripted.model, cwd })
    const { reason } = yield* Effect.flatMap(made.followup(prompt), made.awaitTurn)
    const results = made.session.conversation.messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool-result" ? [textOf(block.content)] : []))
    )
    return { results, ended: reason.kind, session: made.session }
  })

const shell = BashTool.layer.pipe(Layer.provide(OwnShell.layer))
const bash = (command: string): Call => ["bash", { command, description: "Do it" }]

describe("a tool", () => {
  // #region tool
  it.scoped("lists headings, refuses what the schema does not allow, and says why it failed", () => {
    const files = new FsMemory.MemoryFiles({ "/w/guide.md": "# Guide\n\ntext\n\n## Install\n\n### On Linux\n" })
    return Effect.map(run(), ({ results }) =>
      assert.deepStrictEqual(results, [
        "1: # Guide\n5: ## Install\n7: ### On Linux",
        "1: # Guide",
        "Error: invalid arguments for outline: depth: must be between 1 and 6",
        "Error: /w/nothing.md does not exist"
      ])
    ).pipe(
      Effect.provide(
        Outline.layer.pipe(
          Layer.provide(FsMemory.layer(files)),
          Layer.provideMerge(
            agent(
              ["outline", { file_path: "guide.md" }],
              ["outline", { file_path: "guide.md", depth: 1 }],
              ["outline", { file_path: "guide.md", depth: 9 }],
              ["outline", { file_path: "nothing.md" }]
            )
          )
        )
      )
    )
  })
  // #endregion
})

describe("a gate", () => {
  it.scoped("keeps tests as they are, and lets other files be written", () => {
    const files = new FsMemory.MemoryFiles({ "/w/sum.test.ts": "expect(sum(1, 1)).toBe(2)\n" })
    const tools = Layer.mergeAll(WriteTool.layer, EditTool.layer).pipe(
      Layer.provide(Layer.merge(FsMemory.layer(files), ObservedFiles.layer))
    )
    const write = (file: string): Call => ["write", { file_path: file, content: "export {}\n" }]
    return Effect.gen(function* () {
      const { results } = yield* run()
      assert.match(results[0]!, /tests are not changed here; change the code that fails them/)
      assert.match(results[1]!, /sum\.ts/)
      const look = FsMemory.make(files)
      const read = (path: string) => Effect.flatMap(look.resolve(path, { cwd: "/w" }), (at) => look.readBytes(at))
      assert.strictEqual(Buffer.from((yield* read("sum.test.ts")).bytes).toString(), "expect(sum(1, 1)).toBe(2)\n")
      assert.strictEqual(Buffer.from((yield* read("sum.ts")).bytes).toString(), "export {}\n")
    }).pipe(
      Effect.provide(
        Layer.merge(tools, Gates.testsStay).pipe(Layer.provideMerge(agent(write("sum.test.ts"), write("sum.ts"))))
      )
    )
  })

  const pushing = (answer: Layer.Layer<never, never, AskApproval>) =>
    Effect.map(run(), ({ results }) => results).pipe(
      Effect.provide(
        Layer.mergeAll(shell, Gates.askBeforePush, answer).pipe(
          Layer.provideMerge(agent(bash("git push origin main"), bash("git status")))
        )
      )
    )

  it.scoped("asks before a push, and only then", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const yes = Gates.answering((question) =>
        Effect.as(
          Effect.sync(() => asked.push(question)),
          true
        )
      )
      assert.deepStrictEqual(yield* pushing(yes), [
        "would run: git push origin main in /w",
        "would run: git status in /w"
      ])
      assert.deepStrictEqual(asked, ["bash: this publishes commits"])
    })
  )

  it.scoped("takes no for an answer, and silence as well", () =>
    Effect.gen(function* () {
      const [refused] = yield* pushing(Gates.answering(() => Effect.succeed(false)))
      assert.notInclude(refused, "would run")
      const [unanswered, other] = yield* pushing(Layer.empty)
      assert.include(unanswered, "nobody is there")
      assert.strictEqual(other, "would run: git status in /w")
    })
  )
})

describe("a hook", () => {
  it.scoped("sends a pasted key to nobody", () =>
    Effect.gen(function* () {
      const { ended, session } = yield* run("use sk-0123456789abcdefghij0123")
      assert.strictEqual(ended, "blocked")
      assert.strictEqual(session.conversation.messages.length, 0)
      assert.lengthOf((yield* LlmScripted.Script).requests, 0)
      const ends = Array.from(session.range(0), (event) => event.type === "agent/inbox/spliced" && event.data.outcome)
      assert.include(ends, "dropped")
    }).pipe(Effect.provide(Hooks.noKeys.pipe(Layer.provideMerge(agent()))))
  )

  it.scoped("counts calls and adds to what the model reads", () => {
    const broken = Layer.mergeAll(shell, Hooks.counting, Hooks.hint)
    return Effect.gen(function* () {
      const { results } = yield* run()
      assert.strictEqual(results[0], "would run: echo 'pnpm: not found' in /wUse `npx -y pnpm` here.")
      assert.strictEqual(results[1], "would run: true in /w")
      const counted = Hooks.calls.pipe(Metric.tagged("tool", "bash"), Metric.tagged("ended", "well"))
      assert.strictEqual((yield* Metric.value(counted)).count, 2)
    }).pipe(Effect.provide(broken.pipe(Layer.provideMerge(agent(bash("echo 'pnpm: not found'"), bash("true"))))))
  })
})

describe("a package", () => {
  it.scoped("brings a tool over whatever provides its service", () =>
    Effect.map(run(), ({ results }) =>
      assert.deepStrictEqual(results, ["a way of working", `Error: "leap" is not in the glossary; it has step`])
    ).pipe(
      Effect.provide(
        GlossaryTool.layer.pipe(
          Layer.provide(Glossary.layer({ step: "a way of working" })),
          Layer.provideMerge(agent(["glossary", { word: "Step" }], ["glossary", { word: "leap" }]))
        )
      )
    )
  )
})

describe("a world", () => {
  // #region world
  it.scopedLive("moves every tool at once", () => {
    const files = FsMemory.layer(new FsMemory.MemoryFiles({ "/w/a.txt": "in memory\n" }))
    const programs = Elsewhere.layer((cwd) => ["env", `BOX=${cwd}`]).pipe(Layer.provide(SubprocessLocal.layer()))
    const world = Layer.merge(files, programs)
    const tools = Layer.merge(ReadTool.layer, BashTool.layer).pipe(
      Layer.provide(Layer.merge(ObservedFiles.layer, BashLocal.layer())),
      Layer.provide(world)
    )
    return Effect.map(run(), ({ results: [read, echoed] }) => {
      assert.include(read, "1: in memory")
      assert.strictEqual(echoed, "the box is at /w")
      assert.isFalse(existsSync("/w"))
    }).pipe(
      Effect.provide(
        tools.pipe(Layer.provideMerge(agent(["read", { file_path: "a.txt" }], bash('echo "the box is at $BOX"'))))
      )
    )
  })
  // #endregion
})
