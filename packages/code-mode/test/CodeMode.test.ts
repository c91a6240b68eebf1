// Programs of an agent: what the model is told, what a program may call, and what comes back.
import * as LlmScripted from "@dsh/llm/LlmScripted"
import { text } from "@dsh/protocol/Block"
import { MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import * as Tool from "@dsh/tools/Tool"
import { PreExecute } from "@dsh/tools/ToolHooks"
import * as Tools from "@dsh/tools/Tools"
import * as ToolTimeout from "@dsh/tools/ToolTimeout"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Schema } from "effect"
import * as Definitions from "@dsh/loop/Definitions"
import * as CodeMode from "../src/CodeMode.ts"
import { CodeRuntime } from "../src/CodeRuntime.ts"
import * as ToolsMode from "../src/ToolsMode.ts"
import { Stage, ask, done, make, ofType, program, results, subCalls, until, world } from "./support.ts"

const { Reply } = LlmScripted

const ptc = { mode: "ptc" } as const
const names = (request: LlmScripted.Script["Type"]["requests"][number] | undefined) =>
  request?.header.tools?.map(({ name }) => name)
const system = (request: LlmScripted.Script["Type"]["requests"][number] | undefined) => request?.header.system ?? ""

const denying = PreExecute.hook("no secrets", (execution, next) =>
  execution.name === "echo" && JSON.stringify(execution.arguments).includes("secret")
    ? Effect.succeed({ kind: "deny", reason: "that is a secret" } as const)
    : next(execution)
)

describe("what the model is told", () => {
  it.scoped("ptc: one tool, the rule and the declarations", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* ask(agent, "go")
      const [request] = (yield* LlmScripted.Script).requests
      assert.deepStrictEqual(names(request), ["run_code"])
      const prompt = system(request)
      assert.include(prompt, "run_code is the only tool that you can call")
      assert.include(prompt, "    text: string\n    /** an integer */\n    length: number")
      assert.isBelow(prompt.indexOf("only tool"), prompt.indexOf("interface ToolArgs"))
      assert.notInclude(prompt, "run_code:")
    }).pipe(Effect.provide(world([done], ptc)))
  )

  it.scoped("both: all tools and the declarations, without the rule", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* ask(agent, "go")
      const [request] = (yield* LlmScripted.Script).requests
      assert.deepStrictEqual(names(request), ["alone", "echo", "run_code", "shared"])
      assert.include(system(request), "interface ToolArgs")
      assert.notInclude(system(request), "is the only tool")
    }).pipe(Effect.provide(world([done], { mode: "both" })))
  )

  it.scoped("native: nothing of it", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* ask(agent, "go")
      const [request] = (yield* LlmScripted.Script).requests
      assert.deepStrictEqual(names(request), ["alone", "echo", "shared"])
      assert.strictEqual(system(request), "")
      assert.deepStrictEqual(results(agent.session), [
        { text: 'Error: there is no tool "run_code"; available: alone, echo, shared', code: "UNKNOWN_TOOL" }
      ])
    }).pipe(Effect.provide(world([program("return 1"), done], { mode: "native" })))
  )

  it.scoped("agents of one process choose for themselves", () =>
    Effect.gen(function* () {
      const native = yield* make()
      const scripted = yield* make(CodeMode.presentAs("ptc"))
      yield* ask(native, "go")
      yield* ask(scripted, "go")
      yield* ask(native, "again")
      const { requests } = yield* LlmScripted.Script
      const all = ["alone", "echo", "shared"]
      assert.deepStrictEqual(requests.map(names), [all, all, ["run_code"], ["run_code"], all])
      assert.deepStrictEqual(results(native.session), [{ text: "hi" }])
      assert.deepStrictEqual(results(scripted.session), [{ text: "2" }])
    }).pipe(
      Effect.provide(
        world(
          [
            Reply.calls([{ name: "echo", arguments: { text: "hi" } }]),
            done,
            program("return (await tools.echo({ text: 'hi' })).length"),
            done,
            done
          ],
          { mode: "native" }
        )
      )
    )
  )

  it.scoped("a native agent where programs are the default", () =>
    Effect.gen(function* () {
      const agent = yield* make(CodeMode.presentAs("native"))
      yield* ask(agent, "go")
      const { requests } = yield* LlmScripted.Script
      assert.deepStrictEqual(names(requests[0]), ["alone", "echo", "shared"])
      assert.strictEqual(system(requests[0]), "")
      assert.deepStrictEqual(
        results(agent.session).map(({ code }) => code),
        ["UNKNOWN_TOOL", undefined]
      )
    }).pipe(
      Effect.provide(
        world([program("return 1"), Reply.calls([{ name: "echo", arguments: { text: "hi" } }]), done], ptc)
      )
    )
  )

  it.scoped("two choices in one realm are refused, the same twice is fine", () =>
    Effect.gen(function* () {
      const twice = (a: ToolsMode.Mode, b: ToolsMode.Mode) =>
        Effect.exit(make(Layer.provideMerge(CodeMode.presentAs(b), CodeMode.presentAs(a))))
      const clash = yield* twice("ptc", "both")
      assert.include(String(clash), "TOOLS_MODE_TAKEN")
      assert.isTrue(Exit.isSuccess(yield* twice("ptc", "ptc")))
    }).pipe(Effect.provide(world([], { mode: "native" })))
  )

  it.effect("without a runtime a mode with programs does not come up", () =>
    Effect.gen(function* () {
      const bare = (mode: ToolsMode.Mode) =>
        Effect.exit(Layer.build(CodeMode.layer({ mode })).pipe(Effect.scoped, Effect.provide(Definitions.layer)))
      assert.include(String(yield* bare("ptc")), "NO_CODE_RUNTIME")
      assert.include(String(yield* bare("both")), "NO_CODE_RUNTIME")
      assert.isTrue(Exit.isSuccess(yield* bare("native")))
      const late = Layer.build(Layer.provide(CodeMode.presentAs("ptc"), CodeMode.layer({ mode: "native" })))
      assert.include(
        String(yield* Effect.exit(late.pipe(Effect.scoped, Effect.provide(Definitions.layer)))),
        "NO_CODE_RUNTIME"
      )
      const other = CodeRuntime.of({ language: "cobol", isolation: "none", run: () => Effect.succeed({ logs: [] }) })
      const cobol = Layer.provide(CodeMode.layer({ mode: "ptc" }), Layer.succeed(CodeRuntime, other))
      assert.include(
        String(yield* Effect.exit(Layer.build(cobol).pipe(Effect.scoped, Effect.provide(Definitions.layer)))),
        "NO_SDK_RENDERER"
      )
    })
  )
})

describe("what a program may do", () => {
  it.scoped("a direct call of another tool reaches no policy and no body", () => {
    const asked: Array<string> = []
    const spying = PreExecute.hook(
      "spy",
      (execution, next) =>
        Effect.zipRight(
          Effect.sync(() => asked.push(execution.name)),
          next(execution)
        ),
      { order: -5000 }
    )
    return Effect.gen(function* () {
      const agent = yield* make()
      yield* ask(agent, "go")
      assert.deepStrictEqual(results(agent.session), [
        {
          text: 'Error: "echo" cannot be called directly; the only tool is run_code: call tools["echo"](…) in its code',
          code: "UNKNOWN_TOOL"
        },
        {
          text: 'Error: there is no tool "ehco"; the only tool is run_code, whose code can call tools.*',
          code: "UNKNOWN_TOOL"
        }
      ])
      assert.deepStrictEqual(asked, [])
      assert.deepStrictEqual((yield* Stage).log, [])
    }).pipe(
      Effect.provide(
        world(
          [
            Reply.calls([
              { name: "echo", arguments: { text: "hi" } },
              { name: "ehco", arguments: {} }
            ]),
            done
          ],
          ptc,
          spying
        )
      )
    )
  })

  it.live("calls go through the pipeline: one is denied and caught, and all is in the log", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const agent = yield* make()
        yield* ask(agent, "go")
        assert.deepStrictEqual(results(agent.session), [
          { text: 'ToolCallError echo that is a secret\n{\n  "length": 2\n}' }
        ])
        assert.deepStrictEqual(subCalls(agent.session), [
          "start call_0:code:1 echo",
          "failed call_0:code:1 Error: that is a secret",
          "start call_0:code:2 echo",
          "done call_0:code:2 hi"
        ])
        assert.deepStrictEqual((yield* Stage).log, ["echo hi"])
        const [start] = ofType(agent.session, "tool/code-dispatch-start")
        assert.deepStrictEqual(start?.data, {
          rootCallId: "call_0",
          parentCallId: "call_0",
          subCallId: "call_0:code:1",
          name: "echo",
          arguments: { text: "secret" }
        } as never)
      })
    ).pipe(
      Effect.provide(
        world(
          [
            program(`try { await tools.echo({ text: "secret" }) }
              catch (e) { console.log(e.name, e.toolName, e.message) }
              const { length } = await tools.echo({ text: "hi" })
              return { length }`),
            done
          ],
          ptc,
          denying
        )
      )
    )
  )

  it.live("an uncaught failure of a call fails the program, with what it printed", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const agent = yield* make()
        yield* ask(agent, "go")
        const [result] = results(agent.session)
        assert.strictEqual(result?.code, "CODE_RUN_FAILED")
        assert.include(result?.text, "the program failed (exception): ToolCallError: invalid arguments for echo")
        assert.include(result?.text, "It had printed:\nfirst")
      })
    ).pipe(Effect.provide(world([program(`console.log("first"); await tools.echo({ texts: 1 })`), done], ptc)))
  )

  it.live("shared calls overlap up to the cap, exclusive ones are alone, all in order", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { gate, log } = yield* Stage
        const agent = yield* make()
        const turn = yield* Effect.fork(ask(agent, "go"))
        const reached = (line: string) => until(() => log.includes(line))
        yield* reached("start b")
        // The third waits for room, though its gate is open.
        yield* Deferred.succeed(gate("c"), undefined)
        yield* Effect.repeatN(Effect.yieldNow(), 100)
        assert.deepStrictEqual(log, ["start a", "start b"])
        yield* Deferred.succeed(gate("b"), undefined)
        yield* reached("end c")
        assert.notInclude(log, "start x")
        // Results are committed in order: the first holds the others back.
        assert.deepStrictEqual(
          subCalls(agent.session).filter((line) => !line.startsWith("start")),
          []
        )
        yield* Deferred.succeed(gate("a"), undefined)
        yield* reached("start x")
        yield* Deferred.succeed(gate("d"), undefined)
        assert.notInclude(log, "start d")
        yield* Deferred.succeed(gate("x"), undefined)
        yield* Fiber.join(turn)
        assert.deepStrictEqual(log, "start a,start b,end b,start c,end c,end a,start x,end x,start d,end d".split(","))
        assert.deepStrictEqual(
          subCalls(agent.session).filter((line) => !line.startsWith("start")),
          [1, 2, 3, 4, 5].map((n) => `done call_0:code:${n} did ${"abcxd"[n - 1]}`)
        )
      })
    ).pipe(
      Effect.provide(
        world(
          [
            program(`const go = (tool, name) => tools[tool]({ name })
              const all = [go("shared", "a"), go("shared", "b"), go("shared", "c"), go("alone", "x"), go("shared", "d")]
              return (await Promise.all(all)).map(({ did }) => did).join("")`),
            done
          ],
          { mode: "ptc", maxParallelSubCalls: 2 }
        )
      )
    )
  )

  it.live("a call that is not awaited is still waited for, one that has not begun is given up", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { gate, log } = yield* Stage
        const agent = yield* make()
        const turn = yield* Effect.fork(ask(agent, "go"))
        yield* until(() => log.includes("start a"))
        // The program is over: the second has not begun and will not.
        yield* Deferred.await(gate("ended"))
        yield* Effect.repeatN(Effect.yieldNow(), 100)
        assert.deepStrictEqual(results(agent.session), [])
        yield* Deferred.succeed(gate("a"), undefined)
        yield* Fiber.join(turn)
        assert.deepStrictEqual(results(agent.session), [{ text: "gone" }])
        assert.deepStrictEqual(log, ["start a", "end a"])
        assert.deepStrictEqual(subCalls(agent.session), ["start call_0:code:1 alone", "done call_0:code:1 did a"])
      })
    ).pipe(
      Effect.provide(
        world([program(`tools.alone({ name: "a" }); tools.alone({ name: "b" }); return "gone"`), done], ptc)
      )
    )
  )

  it.live("a cancel is prompt: the body is cancelled, the call answered, the thread gone", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { log } = yield* Stage
        const agent = yield* make()
        const turn = yield* Effect.fork(ask(agent, "go"))
        yield* until(() => log.includes("start a"))
        yield* agent.cancel()
        const { reason } = yield* Fiber.join(turn)
        assert.strictEqual(reason.kind, "aborted")
        assert.deepStrictEqual(log, ["start a", "abort a"])
        assert.deepStrictEqual(results(agent.session), [{ text: "Error: tool call aborted", code: "ABORTED" }])
        assert.deepStrictEqual(subCalls(agent.session), [
          "start call_0:code:1 alone",
          "failed call_0:code:1 Error: tool call aborted"
        ])
      })
    ).pipe(
      Effect.provide(
        world([program(`tools.alone({ name: "a" }); await tools.alone({ name: "b" }); while (true) {}`), done], ptc)
      )
    )
  )

  it.live("messages, pictures and the wish to end the turn reach the outer result; deadlines hold inside", () => {
    const picture = { type: "image", attachment: { id: "a", mediaType: "image/png", bytes: 1 } } as const
    const said = Message.fromPlugin(MessageId("m"), "by the way", { plugin: "test" })
    const looking = Tool.make({
      name: "look",
      description: "Looks.",
      parameters: Schema.Struct({}),
      output: Schema.Null,
      execute: (_, { concludeTurn, deferContext }) =>
        Effect.as(Effect.zipRight(deferContext(said), concludeTurn), null),
      render: () => [text("seen"), picture]
    })
    const slow = Tool.make({
      name: "slow",
      description: "Never ends.",
      parameters: Schema.Struct({}),
      output: Schema.Null,
      timeout: "20 millis",
      execute: () => Effect.never,
      render: () => ""
    })
    const extra = Layer.mergeAll(Tools.layerTool(looking), Tools.layerTool(slow), ToolTimeout.layer())
    return Effect.scoped(
      Effect.gen(function* () {
        const agent = yield* make()
        const { reason } = yield* ask(agent, "go")
        assert.strictEqual(reason.kind, "completed")
        assert.strictEqual(results(agent.session)[0]?.text.split(",")[0], "[null")
        assert.include(results(agent.session)[0]?.text, "slow did not end within 20ms")
        const told = ofType(agent.session, "user/message")
          .map(({ data }) => data.content)
          .slice(1)
        assert.deepStrictEqual(told, [[text("by the way")], [text("Images that tools gave to the program:"), picture]])
      })
    ).pipe(
      Effect.provide(
        world(
          [
            program(`return JSON.stringify([await tools.look({}), await tools.slow({}).catch((e) => e.message)])`),
            done
          ],
          ptc,
          extra
        )
      )
    )
  })

  it.scoped("blank code and blank descriptions are refused before anything runs", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* ask(agent, "go")
      assert.deepStrictEqual(
        results(agent.session).map(({ code }) => code),
        ["INVALID_ARGS", "INVALID_ARGS"]
      )
    }).pipe(Effect.provide(world([program(" "), program("return 1", { description: " \n" }), done], ptc)))
  )

  it.live("a program that gives out nothing says so", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const agent = yield* make()
        yield* ask(agent, "go")
        assert.include(results(agent.session)[0]?.text, "gave out nothing")
      })
    ).pipe(Effect.provide(world([program("await tools.echo({ text: 'x' })"), done], ptc)))
  )

  it.live("a log that refuses a call lets none run", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const agent = yield* make()
        yield* agent.session.validate(({ type }) => (type === "tool/code-dispatch-start" ? "full" : undefined))
        yield* ask(agent, "go")
        assert.strictEqual(results(agent.session)[0]?.code, "CODE_RUN_FAILED")
        assert.include(results(agent.session)[0]?.text, "could not be logged")
        assert.deepStrictEqual((yield* Stage).log, [])
      })
    ).pipe(Effect.provide(world([program("return await tools.echo({ text: 'x' }).catch(() => 1)"), done], ptc)))
  )
})
