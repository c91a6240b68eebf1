// The shell that goes on in a confined world, put together as a product would: nothing gets out, and nothing stays.
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import { CallId } from "@dsh/protocol/Ids"
import * as FsConfined from "@dsh/sandbox/FsConfined"
import * as SandboxBwrap from "@dsh/sandbox/SandboxBwrap"
import { SandboxPolicy } from "@dsh/sandbox/SandboxPolicy"
import * as SandboxPolicyLocal from "@dsh/sandbox/SandboxPolicyLocal"
import * as SubprocessConfined from "@dsh/sandbox/SubprocessConfined"
import * as ToolConfinement from "@dsh/sandbox/ToolConfinement"
import * as Sessions from "@dsh/session/Sessions"
import * as TerminalBash from "@dsh/terminal/TerminalBash"
import { Terminals } from "@dsh/terminal/Terminals"
import * as TerminalsLocal from "@dsh/terminal/TerminalsLocal"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import * as ToolPipeline from "@dsh/tools/ToolPipeline"
import * as Tools from "@dsh/tools/Tools"
import * as FsLocal from "@dsh/world/FsLocal"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync } from "node:fs"
import * as PersistentBashTool from "../src/PersistentBashTool.ts"
import { eventually, tempDir } from "./support.ts"

const canConfine = process.platform === "linux" && spawnSync("bwrap", ["--ro-bind", "/", "/", "true"]).status === 0

const local = SubprocessLocal.layer({ graceMs: 300 })
const confined = Layer.provide(SubprocessConfined.layer, [
  local,
  Layer.provide(SandboxBwrap.layer(), local),
  Layer.provide(FsConfined.layer, FsLocal.layer)
])
const world = PersistentBashTool.layer({ timeoutMs: 5000 }).pipe(
  Layer.provideMerge(TerminalBash.layer({ disposeGraceMs: 300, handoffGraceMs: 200 })),
  Layer.provideMerge(TerminalsLocal.layer),
  Layer.provideMerge(confined),
  Layer.provideMerge(ToolConfinement.layer),
  Layer.provideMerge(SandboxPolicyLocal.layer({ mode: "workspace-write" })),
  Layer.provideMerge(Layer.mergeAll(Sessions.layer, Tools.layer, ToolHooks.layer, SystemPrompt.layer))
)

const made = Effect.gen(function* () {
  const folder = yield* tempDir
  mkdirSync(`${folder}/ws`)
  const session = yield* (yield* Sessions.Sessions).create({ cwd: `${folder}/ws` })
  const bash = (command: string) =>
    Effect.map(
      ToolPipeline.execute({ callId: CallId("c"), name: "bash", arguments: { command }, session }),
      ({ content }) => content.map((block) => (block.type === "text" ? block.text : "")).join("")
    )
  return { folder, bash, session }
})

const isRunning = (mark: string) =>
  execFileSync("ps", ["-A", "-ww", "-o", "args="], { encoding: "utf8" }).includes(mark)

describe.skipIf(!canConfine)(
  `a confined shell that goes on${canConfine ? "" : ": skipped, bubblewrap is not there"}`,
  () => {
    it.live("changes the workspace and nothing else, keeps its state, and leaves nothing running", () =>
      Effect.gen(function* () {
        const mark = `618${process.pid}`
        yield* Effect.gen(function* () {
          const { bash, folder } = yield* made
          assert.strictEqual(yield* bash("echo x > made; X=1; pwd"), `${folder}/ws`)
          assert.strictEqual(readFileSync(`${folder}/ws/made`, "utf8"), "x\n")
          assert.match(
            yield* bash(`echo $X; echo x > /var/dsh-escape`),
            /^1\n.*Read-only file system\n\[exit code: 1\]$/
          )
          assert.isFalse(existsSync("/var/dsh-escape"))
          assert.match(yield* bash(`setsid sleep ${mark} & sleep ${mark} & echo started`), /started$/)
          assert.isTrue(isRunning(mark))
          assert.match(
            yield* bash(`(setsid bash -c 'trap "" HUP TERM; sleep ${mark}; true' &); sleep 600`),
            /timed out/
          )
          assert.isFalse(isRunning(mark))
          yield* bash(`(setsid bash -c 'trap "" HUP TERM; sleep ${mark}; true' &); echo $$`)
          assert.match(yield* bash("kill -9 $$"), /\[shell exited: code 137\]/)
          yield* bash(`setsid sleep ${mark} &`)
        }).pipe(Effect.scoped)
        yield* eventually(() => !isRunning(mark))
      }).pipe(Effect.provide(world))
    )

    it.scopedLive("keeps the mode it was opened in, which cannot be changed until it is closed", () =>
      Effect.gen(function* () {
        const { bash, session } = yield* made
        const policy = yield* SandboxPolicy
        const terminals = yield* Terminals
        yield* bash("echo x > made")
        const { message } = yield* Effect.flip(policy.setMode(session, "read-only"))
        assert.match(message, /cannot be changed while terminal pty-1 is open/)
        yield* terminals.close("pty-1", session)
        yield* policy.setMode(session, "read-only")
        assert.match(yield* bash("echo y > made"), /Read-only file system/)
      }).pipe(Effect.provide(world))
    )
  }
)
