// The examples of the README run as they stand, and a composition with a hole in it does not compile.
import { assert, describe, it } from "@effect/vitest"
import * as AgentHooks from "@dsh/agent/AgentHooks"
import { Agents } from "@dsh/agent/Agents"
import * as MockLlm from "@dsh/testing/MockLlm"
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { ConfigProvider, Effect, Fiber, Layer, Stream, TestClock } from "effect"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import * as Batch from "../batch.ts"
import * as Compose from "../compose.ts"
import * as DryRun from "../dry-run.ts"
import * as EffectAi from "../effect-ai.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** What the type checker says of one file under the project's own settings. */
const typeCheck = (file: string): Promise<{ readonly code: number; readonly output: string }> => {
  const dir = mkdtempSync(`${root}node_modules/.cache-typecheck-`)
  const config = `${dir}/tsconfig.json`
  writeFileSync(
    config,
    JSON.stringify({
      extends: `${root}tsconfig.json`,
      compilerOptions: { incremental: false, tsBuildInfoFile: null, composite: false },
      include: [file],
      exclude: []
    })
  )
  return new Promise((resolve) => {
    execFile(process.execPath, [`${root}scripts/tsc.mjs`, "-p", config], (error, stdout, stderr) => {
      rmSync(dir, { recursive: true })
      resolve({ code: error === null ? 0 : 1, output: stdout + stderr })
    })
  })
}

describe("examples", () => {
  it("the command line: a run and the proof of it", { timeout: 60_000 }, async () => {
    const run = await promisify(execFile)("sh", [`${root}scratchpad/command-line.sh`])
    assert.match(run.stdout, /^4\n.*\n1 request, each rebuilt byte for byte from the log\n$/)
    assert.strictEqual(run.stderr, "")
  })

  it.effect("compose: an agent made of Layers", () =>
    Effect.map(Compose.main, (result) =>
      assert.deepStrictEqual(result, { ended: "completed", answer: "You rolled the highest number." })
    )
  )

  it.live("dry run: the same tools over another shell and another store", () =>
    Effect.map(DryRun.main(`${root}scratchpad`), ({ answer, stored }) => {
      assert.match(answer, /^would run: rm -rf build in .*scratchpad\/?$/)
      assert.isAbove(stored, 10)
    })
  )

  it.effect("batch: tasks side by side, a result for each", () =>
    Effect.map(
      Stream.runCollect(Batch.main(["one", "two", "three"].map((task, i) => ({ id: `t${i}`, task })))),
      (results) =>
        assert.sameMembers(
          Array.from(results, ({ finalResponse, id, status }) => `${id} ${status} ${finalResponse}`),
          ["t0 completed one", "t1 completed two", "t2 completed three"]
        )
    )
  )

  it.scopedLive("effect-ai: an agent on another library's model", () =>
    Effect.gen(function* () {
      const server = yield* MockLlm.make({
        apiKey: "sk-example-key",
        script: Script.sequence([
          Reply.toolCalls([{ name: "weather", arguments: { town: "Oslo" } }]),
          (request) => Reply.text(`Yes. ${request.messages.at(-1)?.text}`)
        ])
      })
      const result = yield* Effect.withConfigProvider(
        EffectAi.main(server.url),
        ConfigProvider.fromMap(new Map([["ANTHROPIC_API_KEY", "sk-example-key"]]))
      )
      assert.deepStrictEqual(result, { ended: "completed", answer: "Yes. It rains in Oslo." })
    })
  )

  it.scoped("tests: time is a service, so a policy that waits an hour is tested in no time", () =>
    Effect.gen(function* () {
      const agent = yield* (yield* Agents).create({ provider: "scripted", model: "scripted-1" })
      const id = yield* agent.followup("later")
      const turn = yield* Effect.fork(agent.awaitTurn(id))
      yield* TestClock.adjust("59 minutes")
      assert.strictEqual(agent.session.conversation.messages.length, 0)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Fiber.join(turn)).reason.kind, "completed")
    }).pipe(
      Effect.provide(
        AgentHooks.PreStep.hook("office hours", (input, next) =>
          Effect.zipRight(input.step === 1 ? Effect.sleep("1 hour") : Effect.void, next(input))
        ).pipe(Layer.provideMerge(Compose.world))
      )
    )
  )

  it("a composition without a required Layer does not compile", { timeout: 60_000 }, async () => {
    const complete = await typeCheck(`${root}scratchpad/compose.ts`)
    assert.strictEqual(complete.code, 0, complete.output)
    const incomplete = await typeCheck(`${root}scratchpad/test/fixtures/compose-incomplete.ts`)
    assert.strictEqual(incomplete.code, 1)
    assert.match(incomplete.output, /compose-incomplete\.ts/)
    assert.match(incomplete.output, /SystemPrompt|Sessions|Llm/)
  })
})
