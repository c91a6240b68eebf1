// Permission rules hold for the shell that goes on as they do for one that does not, wherever it went.
import * as AgentHooks from "@dsh/agent/AgentHooks"
import * as Approval from "@dsh/permission/Approval"
import * as PermissionPolicy from "@dsh/permission/PermissionPolicy"
import * as PermissionRules from "@dsh/permission/PermissionRules"
import * as Rules from "@dsh/permission/Rules"
import * as ShellSyntaxTreeSitter from "@dsh/permission/ShellSyntaxTreeSitter"
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import { CallId } from "@dsh/protocol/Ids"
import * as Sessions from "@dsh/session/Sessions"
import * as TerminalBash from "@dsh/terminal/TerminalBash"
import * as TerminalsLocal from "@dsh/terminal/TerminalsLocal"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import * as ToolPipeline from "@dsh/tools/ToolPipeline"
import * as Tools from "@dsh/tools/Tools"
import * as FsLocal from "@dsh/world/FsLocal"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer } from "effect"
import { existsSync, mkdirSync } from "node:fs"
import * as PersistentBashTool from "../src/PersistentBashTool.ts"
import { tempDir } from "./support.ts"

const given = (effect: Rules.Effects, text: string) => ({
  effect,
  origin: "the test",
  rule: Either.getOrThrow(Rules.parse(text))
})

const world = (...rules: ReadonlyArray<ReturnType<typeof given>>) =>
  Layer.merge(PersistentBashTool.layer({ timeoutMs: 10_000 }), PermissionPolicy.layer).pipe(
    Layer.provideMerge(TerminalBash.layer({ disposeGraceMs: 300 })),
    Layer.provideMerge(
      Layer.mergeAll(TerminalsLocal.layer, Approval.layer(), ShellSyntaxTreeSitter.layer, FsLocal.layer).pipe(
        Layer.provideMerge(PermissionRules.layerMemory(rules))
      )
    ),
    Layer.provideMerge(
      Layer.mergeAll(Sessions.layer, Tools.layer, ToolHooks.layer, SystemPrompt.layer, AgentHooks.layer)
    ),
    Layer.provideMerge(SubprocessLocal.layer({ graceMs: 300 }))
  )

const made = Effect.gen(function* () {
  const folder = yield* tempDir
  mkdirSync(`${folder}/ws`)
  const session = yield* (yield* Sessions.Sessions).create({ cwd: `${folder}/ws` })
  const bash = (command: string) =>
    Effect.map(
      ToolPipeline.execute({ callId: CallId("c"), name: "bash", arguments: { command }, session }),
      ({ content, isError }) =>
        `${isError ? "refused: " : ""}${content.map((block) => (block.type === "text" ? block.text : "")).join("")}`
    )
  return { folder, bash }
})

describe("permission rules and a shell that goes on", () => {
  it.scopedLive("are held against its commands", () =>
    Effect.gen(function* () {
      const { bash, folder } = yield* made
      assert.strictEqual(yield* bash("echo fine > kept; ls"), "kept")
      for (const command of ["rm kept", "echo x; rm -f kept", "cd /tmp && rm kept", "env rm kept"]) {
        assert.match(yield* bash(command), /^refused: .*bash\(rm \*\)/, command)
      }
      assert.isTrue(existsSync(`${folder}/ws/kept`))
    }).pipe(Effect.provide(world(given("deny", "bash(rm *)"))))
  )

  it.scopedLive("know in which folder it is: what is allowed in the workspace is not allowed outside", () =>
    Effect.gen(function* () {
      const { bash, folder } = yield* made
      assert.strictEqual(yield* bash("echo one > file"), "(no output)")
      assert.match(yield* bash("cd .."), /\[cwd: .*\]$/)
      assert.match(yield* bash("echo two > file"), /^refused: /)
      assert.isFalse(existsSync(`${folder}/file`))
      assert.match(yield* bash("cd ws"), /^refused: /)
      assert.strictEqual(yield* bash(`cd ${folder}/ws`), "(no output)")
      assert.strictEqual(yield* bash("echo two > file"), "(no output)")
    }).pipe(
      Effect.provide(world(given("allow", "bash(echo *)"), given("allow", "bash(cd *)"), given("allow", "edit(**)")))
    )
  )

  it.scopedLive("also when the command that went there was stopped", () =>
    Effect.gen(function* () {
      const { bash } = yield* made
      assert.match(yield* bash("cd ..; kill -INT $$"), /\[interrupted\]$/)
      assert.match(yield* bash("echo two > file"), /^refused: /)
    }).pipe(
      Effect.provide(
        world(
          given("allow", "bash(echo *)"),
          given("allow", "bash(cd *)"),
          given("allow", "bash(kill *)"),
          given("allow", "edit(**)")
        )
      )
    )
  )
})
