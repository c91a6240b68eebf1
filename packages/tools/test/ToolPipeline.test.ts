import { CallId } from "@dsh/protocol/Ids"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import * as Tool from "../src/Tool.ts"
import { AskApproval, Execute, PostExecute, PreExecute, ToolResult } from "../src/ToolHooks.ts"
import type { Approval, ToolExecution } from "../src/ToolHooks.ts"
import * as Pipeline from "../src/ToolPipeline.ts"
import * as Tools from "../src/Tools.ts"
import { base, broken, call, doing, echo, echoed, infoOf, journal, register, textOf } from "./support.ts"

/** Every stage a call went through, and what it came to. */
const traced = Effect.fnUntraced(function* (which: Pipeline.Call) {
  const asked = yield* journal
  const outcome = yield* Pipeline.execute(which)
  return { asked: asked.join(" "), outcome, text: textOf(outcome), info: infoOf(outcome) }
})

layer(base)("ToolPipeline, the stages", (it) => {
  it.scoped("a call goes through all of them", () =>
    Effect.gen(function* () {
      yield* register(echo)
      const { asked, outcome } = yield* traced(echoed)
      assert.strictEqual(asked, "pre guard execute post result ok")
      assert.deepStrictEqual(outcome, {
        isError: false,
        value: { length: 3 },
        content: [{ type: "text", text: "hey (3)" }],
        meta: { length: 3 },
        additionalContexts: [],
        concludesTurn: false
      })
    })
  )

  it.scoped("arguments that are not JSON end it before any policy", () =>
    Effect.gen(function* () {
      yield* register(echo)
      const { asked, info, text } = yield* traced(call("echo", { text: undefined }))
      assert.strictEqual(asked, "result error")
      assert.strictEqual(info, "INVALID_ARGS")
      assert.include(text, "Error: $.text is undefined")
    })
  )

  it.scoped("a policy that fails or dies ends it without a judgement", () =>
    Effect.gen(function* () {
      yield* register(echo)
      const point = yield* PreExecute
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* point.use("fails", () => broken)
          const { asked, info } = yield* traced(echoed)
          assert.deepStrictEqual([asked, info], ["pre result error", "BROKEN"])
        })
      )
      yield* point.use("dies", () => Effect.die(new Error("bug")))
      const { asked, info, text } = yield* traced(echoed)
      assert.deepStrictEqual([asked, info, text], ["pre result error", undefined, "Error: bug"])
    })
  )

  it.scoped("a denial skips guards and body, and is judged", () =>
    Effect.gen(function* () {
      yield* register(echo)
      yield* (yield* PreExecute).use("denies", () => Effect.succeed({ kind: "deny", reason: "not today" }))
      const { asked, outcome } = yield* traced(echoed)
      assert.strictEqual(asked, "pre post result error")
      assert.deepStrictEqual(outcome, {
        isError: true,
        error: { message: "not today" },
        content: [{ type: "text", text: "Error: not today" }],
        additionalContexts: []
      })
    })
  )

  it.scoped("a guard denies whatever the policies said, and is judged; the first reason counts", () =>
    Effect.gen(function* () {
      yield* register(echo)
      const tools = yield* Tools.Tools
      yield* (yield* PreExecute).use("allows", () => Effect.succeed({ kind: "allow" }), { order: -200 })
      yield* tools.guard(({ arguments: args, name }) => `no ${name} of ${JSON.stringify(args)}`)
      yield* tools.guard(() => "never asked")
      const { asked, text } = yield* traced(echoed)
      assert.strictEqual(asked, "post result error")
      assert.strictEqual(text, 'Error: no echo of {"text":"hey"}')
    })
  )

  it.scoped("a guard that throws ends it without a judgement", () =>
    Effect.gen(function* () {
      yield* register(echo)
      yield* (yield* Tools.Tools).guard(() => {
        throw new Error("bug")
      })
      const { asked, text } = yield* traced(echoed)
      assert.deepStrictEqual([asked, text], ["pre result error", "Error: bug"])
    })
  )

  it.scoped("an execute hook that fails or dies ends it without a judgement", () =>
    Effect.gen(function* () {
      yield* register(echo)
      const point = yield* Execute
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* point.use("fails", () => broken)
          const { asked, info } = yield* traced(echoed)
          assert.deepStrictEqual([asked, info], ["pre guard execute result error", "BROKEN"])
        })
      )
      yield* point.use("dies", () => Effect.die("bug"))
      const { asked, text } = yield* traced(echoed)
      assert.deepStrictEqual([asked, text], ["pre guard execute result error", "Error: bug"])
    })
  )

  it.scoped("an unknown tool is judged, and the model is told which there are", () =>
    Effect.gen(function* () {
      const none = yield* traced(call("ehco"))
      assert.strictEqual(none.asked, "pre guard execute post result error")
      assert.strictEqual(none.info, "UNKNOWN_TOOL")
      assert.strictEqual(none.text, 'Error: there is no tool "ehco"; available: none')
    })
  )

  it.scoped("invalid arguments, a failing, dying or throwing body and a bad value are judged", () =>
    Effect.gen(function* () {
      yield* register(echo)
      yield* register(doing("fails", () => broken))
      yield* register(doing("dies", () => Effect.die(new Error("bug"))))
      yield* register({
        ...echo,
        name: "throws",
        run: (): Effect.Effect<Tool.ToolValue> => {
          throw new Error("thrown")
        }
      })
      yield* register(
        Tool.make({
          name: "lies",
          description: "",
          parameters: Schema.Struct({}),
          output: Schema.Int,
          execute: () => Effect.succeed(1.5),
          render: () => ""
        })
      )
      const asked = yield* journal
      const results: Array<readonly [string | undefined, string]> = []
      for (const which of [call("echo"), call("fails"), call("dies"), call("throws"), call("lies"), call("nobody")]) {
        const outcome = yield* Pipeline.execute(which)
        assert.strictEqual(asked.splice(0).join(" "), "pre guard execute post result error", which.name)
        results.push([infoOf(outcome), textOf(outcome)])
      }
      assert.deepStrictEqual(results, [
        ["INVALID_ARGS", "Error: invalid arguments for echo: missing required text"],
        ["BROKEN", "Error: broken"],
        [undefined, "Error: bug"],
        [undefined, "Error: thrown"],
        [
          "INVALID_TOOL_OUTPUT",
          "Error: lies returned a value that does not fit its own output schema: Expected an integer, actual 1.5"
        ],
        ["UNKNOWN_TOOL", 'Error: there is no tool "nobody"; available: dies, echo, fails, lies, throws']
      ])
    })
  )

  it.scoped("a judgement that fails or dies is the end of it", () =>
    Effect.gen(function* () {
      yield* register(echo)
      const point = yield* PostExecute
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* point.use("fails", () => broken)
          const { asked, info } = yield* traced(echoed)
          assert.deepStrictEqual([asked, info], ["pre guard execute post result error", "BROKEN"])
        })
      )
      yield* point.use("dies", () => Effect.die(new Error("bug")))
      assert.strictEqual((yield* traced(echoed)).text, "Error: bug")
    })
  )

  it.scoped("the tool is looked up when its body is due", () =>
    Effect.gen(function* () {
      const prepared = yield* Effect.scoped(Effect.zipRight(register(echo), Pipeline.prepare(echoed)))
      assert.strictEqual(prepared.kind, "ready")
      const { final, outcome } = yield* Pipeline.dispatch(prepared.execution)
      assert.strictEqual(infoOf(outcome), "UNKNOWN_TOOL")
      assert.isFalse(final)
    })
  )
})

layer(base)("ToolPipeline, the execution", (it) => {
  it.scoped("is fixed before any policy sees it, and the same for everybody", () =>
    Effect.gen(function* () {
      yield* register(echo)
      const seen: Array<ToolExecution> = []
      yield* (yield* PreExecute).use("sees", (input, next) => {
        seen.push(input)
        assert.throws(() => Reflect.set(input.arguments as object, "text", "other") || assert.fail("frozen"))
        return next(input)
      })
      yield* (yield* Execute).use("sees", (input, next) => (seen.push(input), next(input)))
      yield* (yield* PostExecute).use("sees", (input, next) => (seen.push(input.execution), next(input)))
      yield* (yield* ToolResult).use("sees", ({ execution }) => Effect.sync(() => void seen.push(execution)))
      const args = { text: "hey" }
      const running = Pipeline.execute({
        ...echoed,
        arguments: args,
        parent: Symbol.for("outer"),
        rootCallId: CallId("r")
      })
      assert.strictEqual(textOf(yield* running), "hey (3)")
      assert.strictEqual(new Set(seen).size, 1)
      const { arguments: fixed, callId, parent, rootCallId, token } = seen[0]!
      assert.deepStrictEqual(
        { fixed, callId, parent, rootCallId },
        {
          fixed: args,
          callId: CallId("c"),
          parent: Symbol.for("outer"),
          rootCallId: CallId("r")
        }
      )
      yield* running
      assert.notStrictEqual(seen.at(-1)!.token, token)
    })
  )

  it.scoped("is its own root unless told otherwise", () =>
    Effect.gen(function* () {
      const { execution } = yield* Pipeline.prepare(echoed)
      assert.strictEqual(execution.rootCallId, "c")
      assert.isUndefined(execution.parent)
    })
  )
})

layer(base)("ToolPipeline, approval", (it) => {
  const asking = (reason?: string) =>
    Effect.flatMap(PreExecute, (point) =>
      point.use("asks", () => Effect.succeed({ kind: "ask", ...(reason !== undefined && { reason }) }))
    )
  const answering = (answer: Option.Option<Approval>) =>
    Effect.flatMap(AskApproval, (point) => point.use("answers", () => Effect.succeed(answer)))

  it.scoped("lets the call run once it was allowed, guards still asked", () =>
    Effect.gen(function* () {
      yield* register(echo)
      yield* asking("it writes")
      const asked: Array<unknown> = []
      yield* (yield* AskApproval).use("answers", ({ execution, reason }) => {
        asked.push(execution.name, reason)
        return Effect.succeedSome<Approval>("allowed-once")
      })
      const result = yield* traced(echoed)
      assert.strictEqual(result.asked, "pre guard execute post result ok")
      assert.deepStrictEqual(asked, ["echo", "it writes"])
    })
  )

  it.scoped("denies for a reason of its own in every other case", () =>
    Effect.gen(function* () {
      yield* register(echo)
      yield* asking("it writes")
      const denied = (answer: Option.Option<Approval>) =>
        Effect.scoped(Effect.zipRight(answering(answer), traced(echoed)))
      const cases = [
        [
          Option.some("rejected" as const),
          "Error: the user rejected this call (it writes); do something else or ask what they want"
        ],
        [Option.some("cancelled" as const), "Error: the approval of this call was cancelled (it writes)"],
        [
          Option.some("unavailable" as const),
          "Error: this call needs an approval and nobody is there to give it (it writes)"
        ],
        [Option.none(), "Error: this call needs an approval and nobody is there to give it (it writes)"]
      ] as const
      for (const [answer, text] of cases) {
        const result = yield* denied(answer)
        assert.deepStrictEqual([result.asked, result.text], ["pre post result error", text])
      }
    })
  )

  it.scoped("denies when there is nobody to ask at all, with or without a reason", () =>
    Effect.gen(function* () {
      yield* register(echo)
      yield* asking()
      const { text } = yield* traced(echoed)
      assert.strictEqual(text, "Error: this call needs an approval and nobody is there to give it")
    })
  )

  it.scoped("that fails ends the call without a judgement", () =>
    Effect.gen(function* () {
      yield* register(echo)
      yield* asking()
      yield* (yield* AskApproval).use("fails", () => broken)
      const { asked, info } = yield* traced(echoed)
      assert.deepStrictEqual([asked, info], ["pre result error", "BROKEN"])
    })
  )
})

describe("ToolPipeline.aborted", () => {
  it("tells a call that was cancelled before it started from one that ran", () => {
    const results = [Pipeline.aborted(false), Pipeline.aborted(true)]
    assert.deepStrictEqual(results.map(infoOf), ["ABORTED_BEFORE_DISPATCH", "ABORTED"])
    assert.deepStrictEqual(results.map(textOf), [
      "Error: tool call aborted before it started",
      "Error: tool call aborted"
    ])
  })
})
