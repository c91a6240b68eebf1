// The same agent in three worlds: what is swapped is the files and the programs, and with them everything that a tool does moves.
import { Agents } from "@dsh/agent/Agents"
import * as EditTool from "@dsh/files/EditTool"
import * as GlobTool from "@dsh/files/GlobTool"
import * as GrepTool from "@dsh/files/GrepTool"
import * as ObservedFiles from "@dsh/files/ObservedFiles"
import * as ReadTool from "@dsh/files/ReadTool"
import * as WriteTool from "@dsh/files/WriteTool"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import { textOf } from "@dsh/protocol/Block"
import * as BashLocal from "@dsh/shell/BashLocal"
import * as BashTool from "@dsh/shell/BashTool"
import * as SpillFs from "@dsh/spill/SpillFs"
import * as SpillPolicy from "@dsh/spill/SpillPolicy"
import type { Fs } from "@dsh/world/Fs"
import * as FsContract from "@dsh/world/FsContract"
import * as FsLocal from "@dsh/world/FsLocal"
import type { Subprocess } from "@dsh/world/Subprocess"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs"
import { link, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as ChrootWorld from "./support/ChrootWorld.ts"
import * as MemoryWorld from "./support/MemoryWorld.ts"

const hasBwrap = process.platform === "linux" && spawnSync("bwrap", ["--ro-bind", "/", "/", "true"]).status === 0

const folder = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "dsh-test-")))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** `/w` is no folder of this machine. What a tool that is in the wrong world leaves there is taken away. */
const elsewhere = Effect.acquireRelease(
  Effect.sync(() => assert.isFalse(existsSync("/w"), "this machine has a folder /w")),
  () => Effect.sync(() => rmSync("/w", { recursive: true, force: true }))
)

/** Everything an agent works with. Of the world it is told only once. */
const agentIn = (world: Layer.Layer<Fs | Subprocess>, script: ReadonlyArray<LlmScripted.Reply.Reply>) =>
  Layer.mergeAll(
    AgentLoop.layer,
    LlmScripted.layer(script),
    BashTool.layer,
    ReadTool.layer,
    WriteTool.layer,
    EditTool.layer,
    GlobTool.layer,
    GrepTool.layer,
    SpillPolicy.layer({ maxInlineBytes: 20_000 })
  ).pipe(
    Layer.provideMerge(Layer.mergeAll(ObservedFiles.layer, BashLocal.layer(), SpillFs.layer())),
    Layer.provideMerge(world),
    Layer.provideMerge(Definitions.layer)
  )

type Call = readonly [name: string, args: object]

const bash = (command: string): Call => ["bash", { command, description: "Do it" }]

/** The file that has all of a result: as the tool says, else as the policy does. */
const named = (result = "") =>
  (/(?:full output|all of them): (\/[\w./-]+)/.exec(result) ?? /all of it is in (\/[\w./-]+)/.exec(result))?.[1]

const calls = (cwd: string): ReadonlyArray<Call | ((file: string) => Call)> => [
  bash("echo 'hello from bash' > a.txt && ln -s " + cwd + "/a.txt alias"),
  ["read", { file_path: "a.txt" }],
  ["edit", { file_path: "alias", old_string: "from bash", new_string: "from edit" }],
  ["write", { file_path: "sub/b.txt", content: "needle of write\n" }],
  ["glob", { pattern: "*.txt" }],
  ["grep", { pattern: "edit|needle" }],
  bash("cat a.txt sub/b.txt alias"),
  ["read", { file_path: `${cwd}/sub/../sub/b.txt` }],
  // Too long for its tool, for a page of results, and for the conversation: three ways to a file, and back.
  bash("seq 1 30000"),
  (file) => ["grep", { pattern: "^12345$", path: file }],
  bash("seq 1 300 > many"),
  ["grep", { pattern: "^", path: "many" }],
  (file) => ["read", { file_path: file, offset: 300, limit: 5 }],
  bash("seq 1 9000"),
  (file) => ["grep", { pattern: "^4321$", path: file }]
]

/** Makes the calls one by one, and gives the results. */
const work = (world: Layer.Layer<Fs | Subprocess>, cwd: string) => {
  const results: Array<string> = []
  const files: Array<string> = []
  const script = calls(cwd).map((call) =>
    LlmScripted.Reply.from(({ messages }) => {
      const last = messages.at(-1)
      if (last?.role === "user") {
        for (const block of last.content) if (block.type === "tool-result") results.push(textOf(block.content))
      }
      const file = named(results.at(-1))
      if (typeof call === "function") files.push(file ?? "(no file)")
      const [name, args] = typeof call === "function" ? call(file ?? "/no/file") : call
      return LlmScripted.Reply.calls([{ name, arguments: args, id: `call_${messages.length}` }])
    })
  )
  return Effect.gen(function* () {
    const agents = yield* Agents
    const agent = yield* agents.create({ provider: LlmScripted.provider, model: LlmScripted.model, cwd })
    const { reason } = yield* Effect.flatMap(agent.followup("work"), agent.awaitTurn)
    assert.strictEqual(reason.kind, "completed")
    const all = agent.session.conversation.messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool-result" ? [textOf(block.content)] : []))
    )
    return { results: all, files }
  }).pipe(Effect.provide(agentIn(world, [...script, LlmScripted.Reply.text("done")])))
}

const check = (results: ReadonlyArray<string>, cwd: string): void => {
  const [made, read, edited, written, globbed, found, shown, again, ...long] = results
  assert.strictEqual(made, "(no output)")
  assert.include(read, "1: hello from bash")
  assert.include(edited, `edited ${cwd}/alias: 1 replacement`)
  assert.include(written, "(created")
  assert.deepStrictEqual(globbed?.split("\n").sort(), ["a.txt", "sub/b.txt"])
  assert.include(found, "Found 2 matches\n")
  assert.include(found, "a.txt\nLine 1: hello from edit")
  assert.include(found, "sub/b.txt\nLine 1: needle of write")
  assert.strictEqual(shown, "hello from edit\nneedle of write\nhello from edit")
  assert.include(again, `<path>${cwd}/sub/b.txt</path>`)
  const [, inOutput, , page, inList, , inSpilled] = long
  assert.include(inOutput, "Line 12345: 12345")
  assert.include(page, "shown 250 of 300 matches")
  assert.include(inList, "Line 298: 298")
  assert.include(inSpilled, "Line 4321: 4321")
}

describe("an agent works", () => {
  it.scopedLive("on this machine", () =>
    Effect.gen(function* () {
      const dir = yield* folder
      const { results } = yield* work(Layer.merge(FsLocal.layer, SubprocessLocal.layer()), dir)
      check(results, dir)
      assert.deepStrictEqual(readdirSync(dir).sort(), ["a.txt", "alias", "many", "sub"])
    })
  )

  it.scopedLive("in memory, and nothing of it is on this machine", () =>
    Effect.gen(function* () {
      yield* elsewhere
      const { files, results } = yield* work(MemoryWorld.layer, "/w")
      check(results, "/w")
      for (const path of ["/w", ...files]) assert.isFalse(existsSync(path), path)
    })
  )

  it.scopedLive.skipIf(!hasBwrap)("under another root, and nothing of it is outside of that", () =>
    Effect.gen(function* () {
      yield* elsewhere
      const root = yield* folder
      const { files, results } = yield* work(ChrootWorld.layer(root), "/w")
      check(results, "/w")
      for (const path of ["/w", ...files]) assert.isFalse(existsSync(path), path)
      assert.deepStrictEqual(readdirSync(join(root, "w")).sort(), ["a.txt", "alias", "many", "sub"])
    })
  )
})

describe("the files under another root", () => {
  const links: Required<FsContract.Links> = {
    symbolic: (destination, path) => Effect.promise(() => symlink(destination, path)),
    hard: (existing, path) => Effect.promise(() => link(existing, path))
  }
  const world = Effect.map(folder, (root): FsContract.World => {
    mkdirSync(join(root, "w"))
    return {
      open: Effect.sync(() => ChrootWorld.fs(root)),
      cwd: "/w",
      links: {
        symbolic: (destination, path) => links.symbolic(destination, root + path),
        hard: (existing, path) => links.hard(root + existing, root + path)
      }
    }
  })
  for (const { name, run } of FsContract.casesFor(links)) {
    it.scopedLive(name, () => Effect.flatMap(world, run))
  }
})
