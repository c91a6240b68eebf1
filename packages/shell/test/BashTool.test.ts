import * as CallIds from "@dsh/protocol/Ids"
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import * as ToolPipeline from "@dsh/tools/ToolPipeline"
import * as Tools from "@dsh/tools/Tools"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as NodeFs from "node:fs"
import * as BashTool from "../src/BashTool.ts"
import * as Transcript from "../src/BashTool/Transcript.ts"
import type { ShellResult } from "../src/Shell.ts"
import { bash, tempDir } from "./support.ts"

const output = (text: string) => ({ text, truncated: false, totalBytes: text.length })
const result = (fields: Partial<ShellResult> = {}): ShellResult => ({
  exitCode: 0,
  signal: null,
  timedOut: false,
  timeoutMs: 60_000,
  stdout: output(""),
  stderr: output(""),
  pipeHeld: false,
  ...fields
})

describe("Transcript", () => {
  it("shows streams and markers in a fixed order", () => {
    const cases: ReadonlyArray<[Partial<ShellResult>, string]> = [
      [{}, "(no output)"],
      [{ stdout: output("\n") }, "(no output)"],
      [{ stdout: output("a\nb\n") }, "a\nb"],
      [{ stderr: output("oops\n"), exitCode: 1 }, "[stderr]\noops\n[exit code: 1]"],
      [{ stdout: output("a\n"), stderr: output("b"), exitCode: 2 }, "a\n[stderr]\nb\n[exit code: 2]"],
      [
        { timedOut: true, exitCode: null, signal: "SIGTERM" },
        "(no output)\n[timed out after 60000ms]\n[killed by signal: SIGTERM]"
      ],
      [{ timedOut: true }, "(no output)\n[timed out after 60000ms]"],
      [
        {
          stdout: { text: "tail", truncated: true, totalBytes: 99_999, spillPath: "/tmp/x.log" },
          stderr: { text: "end", truncated: true, totalBytes: 88_888 }
        },
        "tail\n[only the beginning and the end of 99999 bytes are shown; full output: /tmp/x.log]\n" +
          "[stderr]\nend\n[only the beginning and the end of 88888 bytes are shown; full output: (unavailable)]"
      ]
    ]
    for (const [fields, text] of cases) assert.strictEqual(Transcript.render(result(fields)), text)
    const all = { pipeHeld: true, timedOut: true, exitCode: null, signal: "SIGKILL" }
    assert.match(
      Transcript.render(result(all), { folder: "/w/sub" }),
      /^\(no output\)\n\[cwd: \/w\/sub\]\n\[a background process .*\]\n\[timed out .*\]\n\[killed by signal: SIGKILL\]$/
    )
  })

  it("finds the status again in the last marker only", () => {
    assert.deepStrictEqual(Transcript.statusOf("[exit code: 1]\nfine"), { exitCode: 0 })
    assert.deepStrictEqual(Transcript.statusOf("x\n[exit code: 12]"), { exitCode: 12 })
    assert.deepStrictEqual(Transcript.statusOf("x\n[timed out after 5ms]\n[killed by signal: SIGTERM]"), {
      signal: "SIGTERM"
    })
  })
})

const registries = Layer.mergeAll(Tools.layer, SystemPrompt.layer, ToolHooks.layer)
const product = Layer.provideMerge(BashTool.layer, Layer.merge(registries, bash()))

const call = (args: object) =>
  ToolPipeline.execute({
    callId: CallIds.CallId("call-1"),
    name: "bash",
    arguments: { description: "tries something out", ...args },
    session: undefined
  })

const textOf = (outcome: Effect.Effect.Success<ReturnType<typeof call>>) =>
  outcome.content.map((block) => (block.type === "text" ? block.text : "")).join("")

describe("BashTool", () => {
  it.live("runs a command; failing is not an error result", () =>
    Effect.gen(function* () {
      const outcome = yield* call({ command: "echo out; ls /no/such/file; exit 4" })
      assert.isFalse(outcome.isError)
      assert.match(textOf(outcome), /^out\n\[stderr\]\nls: .*\n\[exit code: 4\]$/)
    }).pipe(Effect.provide(product))
  )

  it.live("names the file that holds the whole of long output", () =>
    Effect.gen(function* () {
      const text = textOf(yield* call({ command: "seq 1 50000; exit 1" }))
      const [, path] = /full output: (.*)\]\n\[exit code: 1\]$/.exec(text) ?? []
      assert.isAbove(NodeFs.statSync(path!).size, 200_000)
    }).pipe(Effect.provide(product))
  )

  it.live("states the folder when it is another than usual", () =>
    Effect.gen(function* () {
      const dir = yield* tempDir
      assert.strictEqual(textOf(yield* call({ command: "pwd", workdir: dir })), `${dir}\n[cwd: ${dir}]`)
      assert.notInclude(textOf(yield* call({ command: "pwd" })), "[cwd")
      const missing = yield* call({ command: "pwd", workdir: "no/such/folder" })
      assert.isTrue(missing.isError && missing.error.info?.code === "SHELL_CWD_NOT_FOUND")
    }).pipe(Effect.scoped, Effect.provide(product))
  )

  it.live("validates its arguments and lets nothing else through", () =>
    Effect.gen(function* () {
      for (const args of [{ command: " " }, { command: "true", description: "" }, { command: "true", timeoutMs: -1 }]) {
        const refused = yield* call(args)
        assert.isTrue(refused.isError && refused.error.info?.code === "INVALID_ARGS", JSON.stringify(args))
      }
      const smuggled = yield* call({ command: "cat; echo ${X-unset}", env: { X: "set" }, stdin: "text" })
      assert.strictEqual(textOf(smuggled), "unset")
    }).pipe(Effect.provide(product))
  )

  it.live("tells the model about its markers and is shown as a terminal", () =>
    Effect.gen(function* () {
      const [section] = (yield* SystemPrompt.SystemPrompt).sections()
      assert.deepInclude(section, { name: "bash", order: 105 })
      const { presentResult } = BashTool.tool
      assert.deepStrictEqual(presentResult({ text: "x\n[exit code: 2]", isError: false }), {
        view: "terminal",
        output: "x\n[exit code: 2]",
        exitCode: 2
      })
    }).pipe(Effect.provide(product))
  )
})
