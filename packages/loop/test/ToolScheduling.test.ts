// Which calls overlap, in which order they are logged, and that every call is answered.
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as Tool from "@dsh/tools/Tool"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import * as Tools from "@dsh/tools/Tools"
import { LoopConfig } from "@dsh/loop/LoopConfig"
import { MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Option, Schema } from "effect"
import { ask, make, ofType, outline, Stage, until, world } from "./support.ts"

const { Reply } = LlmScripted
const shared = (name: string) => ({ name: "shared", arguments: { name }, id: name })
const alone = (name: string) => ({ name: "alone", arguments: { name }, id: name })
const open = (name: string) => Effect.flatMap(Stage, ({ gate }) => Deferred.succeed(gate(name), undefined))
const calls = (session: Parameters<typeof outline>[0]) => outline(session).filter((line) => /^(call|result)/.test(line))

describe("tool scheduling", () => {
  it.scoped("parallel-safe calls overlap; results are committed in model order", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.followup("go")
      yield* until(agent.session, (event) => event.type === "tool/call" && event.data.callId === "b")
      yield* open("b")
      yield* open("a")
      yield* agent.whenIdle
      assert.deepStrictEqual(calls(agent.session), ["call a", "call b", "result a did a", "result b did b"])
      const { log } = yield* Stage
      assert.sameMembers(log.slice(0, 2), ["start a", "start b"])
    }).pipe(Effect.provide(world([Reply.calls([shared("a"), shared("b")]), Reply.text("ok")])))
  )

  it.scoped("an exclusive call is a barrier on both sides", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* Effect.all([open("a"), open("x"), open("b")])
      yield* ask(agent, "go")
      assert.deepStrictEqual(calls(agent.session), [
        "call a",
        "result a did a",
        "call x",
        "result x did x",
        "call b",
        "result b did b"
      ])
    }).pipe(Effect.provide(world([Reply.calls([shared("a"), alone("x"), shared("b")]), Reply.text("ok")])))
  )

  it.scoped("the pool has a cap", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* agent.followup("go")
      yield* until(agent.session, (event) => event.type === "tool/call" && event.data.callId === "b")
      assert.deepStrictEqual(calls(agent.session), ["call a", "call b"])
      yield* open("b")
      yield* until(agent.session, (event) => event.type === "tool/call" && event.data.callId === "c")
      yield* Effect.all([open("a"), open("c")])
      yield* agent.whenIdle
      assert.deepStrictEqual(calls(agent.session).slice(-3), ["result a did a", "result b did b", "result c did c"])
    }).pipe(
      Effect.provide(
        world([Reply.calls([shared("a"), shared("b"), shared("c")]), Reply.text("ok")]).pipe(
          Layer.provide(Layer.succeed(LoopConfig, { maxParallelToolCalls: 2, defaultModel: undefined }))
        )
      )
    )
  )

  it.scoped("an approval that waits holds back no finished sibling", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* open("a")
      yield* agent.followup("go")
      yield* until(agent.session, (event) => event.type === "tool/result")
      assert.deepStrictEqual(calls(agent.session), ["call a", "call b", "result a did a"])
      yield* open("approval")
      yield* open("b")
      yield* agent.whenIdle
      assert.deepStrictEqual(calls(agent.session).slice(-1), ["result b did b"])
    }).pipe(
      Effect.provide(
        world(
          [Reply.calls([shared("a"), shared("b")]), Reply.text("ok")],
          Layer.mergeAll(
            ToolHooks.PreExecute.hook("ask for b", (execution, next) =>
              execution.callId === "b" ? Effect.succeed({ kind: "ask" }) : next(execution)
            ),
            ToolHooks.AskApproval.hook("human", () =>
              Effect.gen(function* () {
                const { gate } = yield* Stage
                yield* Deferred.await(gate("approval"))
                return Option.some("allowed-once" as const)
              })
            )
          )
        )
      )
    )
  )

  it.scoped("whether a call may overlap is asked at its turn, and may have changed since the batch began", () => {
    let safe = true
    const moody = Tool.make({
      name: "moody",
      description: "Overlaps when it likes.",
      parameters: Schema.Struct({}),
      output: Schema.Null,
      parallelSafe: () => safe,
      execute: (_, { callId }) =>
        Effect.as(
          Effect.flatMap(Stage, ({ gate }) => Deferred.await(gate(callId))),
          null
        ),
      render: () => "done"
    })
    const mood = ToolHooks.PreExecute.hook("mood", (execution, next) => {
      safe = execution.callId === "b" || execution.callId === "c"
      return next(execution)
    })
    const call = (id: string) => ({ name: "moody", arguments: {}, id })
    return Effect.gen(function* () {
      const agent = yield* make()
      yield* Effect.all([open("a"), open("b"), open("d")])
      yield* agent.followup("go")
      yield* until(agent.session, (event) => event.type === "tool/call" && event.data.callId === "d")
      yield* open("c")
      yield* agent.whenIdle
      assert.deepStrictEqual(calls(agent.session), [
        "call a",
        // The policy of a made the next one exclusive, the policy of b the one after it parallel-safe again.
        "result a done",
        "call b",
        "result b done",
        "call c",
        "call d",
        "result c done",
        "result d done"
      ])
    }).pipe(
      Effect.provide(
        world(
          [Reply.calls([call("a"), call("b"), call("c"), call("d")]), Reply.text("ok")],
          Layer.merge(Tools.layerTool(moody), mood)
        )
      )
    )
  })

  it.scoped("whatever goes wrong in a call is a result the model reads", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      const outcome = yield* ask(agent, "go")
      assert.strictEqual(outcome.reason.kind, "completed")
      assert.deepStrictEqual(
        calls(agent.session).filter((line) => line.startsWith("result")),
        [
          "result 1 UNKNOWN_TOOL",
          "result 2 INVALID_ARGS",
          "result 3 INVALID_ARGS",
          "result 4 Error: kaboom",
          "result 5 fine"
        ]
      )
    }).pipe(
      Effect.provide(
        world([
          Reply.calls([
            { id: "1", name: "nobody", arguments: {} },
            { id: "2", name: "echo", arguments: '{"text": "cut o' },
            { id: "3", name: "echo", arguments: { text: 7 } },
            { id: "4", name: "broken", arguments: {} },
            { id: "5", name: "echo", arguments: { text: "fine" } }
          ]),
          Reply.text("ok")
        ])
      )
    )
  )

  it.scoped("contexts added by calls reach the model after the batch, in call order", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* ask(agent, "go")
      const lines = outline(agent.session).filter((line) => /^(result|user|step)/.test(line))
      assert.deepStrictEqual(lines, [
        "step 1",
        "user go",
        "result 1 a",
        "result 2 b",
        "step 2",
        "user note 1",
        "user note 2"
      ])
    }).pipe(
      Effect.provide(
        world(
          [
            Reply.calls([
              { id: "1", name: "echo", arguments: { text: "a" } },
              { id: "2", name: "echo", arguments: { text: "b" } }
            ]),
            Reply.text("ok")
          ],
          ToolHooks.PostExecute.hook("note", ({ execution }) =>
            Effect.succeed({
              kind: "accept",
              additionalContexts: [
                Message.fromPlugin(MessageId(`note-${execution.callId}`), `note ${execution.callId}`, {
                  plugin: "test"
                })
              ]
            })
          )
        )
      )
    )
  )

  it.scoped("a log that refuses a result still gets an answer to every call", () =>
    Effect.gen(function* () {
      const agent = yield* make()
      yield* Effect.all([open("a"), open("b")])
      let refused = false
      yield* agent.session.validate((event) => {
        if (event.type !== "tool/result" || refused) return undefined
        refused = true
        return "not this one"
      })
      const outcome = yield* ask(agent, "go")
      assert.strictEqual(outcome.reason.kind === "error" && outcome.reason.error.code, "INVARIANT")
      const answers = ofType(agent.session, "tool/result").map(({ data }) => [
        data.message.source.callId,
        data.error?.code
      ])
      assert.deepStrictEqual(answers, [
        ["a", "TOOL_OUTCOME_UNKNOWN"],
        ["x", "TOOL_NOT_STARTED"]
      ])
      assert.strictEqual(outline(agent.session).at(-2), "end step 1")
    }).pipe(Effect.provide(world([Reply.calls([alone("a"), alone("x")])])))
  )
})
