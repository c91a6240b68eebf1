// Where a cancel may land, one window per row, and the whole log that results: the same when the agent is disposed there.
import * as AgentHooks from "@dsh/agent/AgentHooks"
import * as Llm from "@dsh/llm/Llm"
import { LlmError } from "@dsh/llm/LlmError"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import type * as Definitions from "@dsh/loop/Definitions"
import { CallId } from "@dsh/protocol/Ids"
import { neutral } from "@dsh/protocol/NeutralRequest"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Runtime, Scope, Stream } from "effect"
import { answer, answered, asked, entered, opened, sent } from "./faults.ts"
import { ask, make, ofType, once, outline, pending, told, world } from "./support.ts"

const { Reply } = LlmScripted

interface Window {
  readonly window: string
  /** It lands while observers hear this event … */
  readonly at?: (event: SessionEvent) => boolean
  /** … or while this waits, for the first time. */
  readonly waits?: (
    first: ReturnType<typeof once<never, never>>
  ) => Layer.Layer<never, unknown, Definitions.Definitions>
  readonly provider?: string
  readonly replies?: ReadonlyArray<LlmScripted.Reply.Reply>
  readonly log: ReadonlyArray<string>
  /** Default: the prompt is in the history. */
  readonly pending?: ReadonlyArray<string>
}

const of = (type: SessionEvent["type"]) => (event: SessionEvent) => event.type === type
const delta = (text: string) => ({ type: "text-delta", index: 0, text }) as const
const echo = [Reply.calls([{ name: "echo", arguments: { text: "x" } }])]

const inTurn = ["end turn 1 aborted"]
const inStep = ["end step 1", ...inTurn]

const adapter = (first: ReturnType<typeof once<never, never>>) =>
  Llm.layerAdapter(
    Effect.succeed({
      providers: [{ id: "slow", name: "Slow" }],
      formats: [neutral],
      models: () => Effect.succeed([]),
      prepare: (config) =>
        first(
          Effect.succeed({
            config,
            wire: { format: neutral.format },
            model: { provider: "slow", id: config.model, name: "Slow" },
            stream: () => Stream.make(delta("ok"), { type: "finish", reason: { kind: "stop" } } as const)
          })
        )
    })
  )

const windows: ReadonlyArray<Window> = [
  { window: "turn/start is heard", at: of("turn/start"), log: [...opened, ...inTurn], pending: ["go"] },
  {
    window: "the prompt is assembled",
    waits: (first) => SystemPrompt.layerSection({ name: "waits", order: 0, text: () => first(Effect.succeed("fine")) }),
    log: [...opened, ...inTurn],
    pending: ["go"]
  },
  {
    window: "a pre-step hook works",
    waits: (first) => AgentHooks.PreStep.hook("waits", (input, next) => first(next(input))),
    log: [...opened, ...inTurn],
    pending: ["go"]
  },
  { window: "step/start is heard", at: of("step/start"), log: [...entered, ...inStep] },
  { window: "user/message is heard", at: of("user/message"), log: [...entered, ...inStep] },
  {
    window: "a request hook works",
    waits: (first) => AgentHooks.AgentRequest.hook("waits", (input, next) => first(next(input))),
    log: [...entered, ...inStep]
  },
  { window: "the adapter prepares the call", waits: adapter, provider: "slow", log: [...entered, ...inStep] },
  {
    window: "request/header is heard",
    at: of("request/header"),
    log: [...entered, "header initial", ...inStep]
  },
  { window: "request/sent is heard", at: of("request/sent"), log: [...sent, ...inStep] },
  {
    window: "a stream middleware works",
    waits: (first) => Llm.LlmStream.hook("waits", (request, next) => first(next(request))),
    log: [...sent, ...inStep]
  },
  {
    window: "the model speaks",
    at: of("assistant/chunk"),
    replies: [Reply.hang([delta("half")])],
    log: [...sent, "chunk text-delta", "assistant (interrupted) half", ...inStep]
  },
  {
    window: "the model has said nothing that could be read",
    at: of("assistant/chunk"),
    replies: [Reply.hang([delta(" \n")])],
    log: [...sent, "chunk text-delta", ...inStep]
  },
  {
    window: "the model writes a call",
    at: of("assistant/chunk"),
    replies: [
      Reply.hang([{ type: "tool-call-delta", index: 0, id: CallId("call_0"), name: "echo", argumentsDelta: '{"te' }])
    ],
    log: [...sent, "chunk tool-call-delta", ...inStep]
  },
  {
    window: "assistant/message is heard",
    at: of("assistant/message"),
    replies: echo,
    log: [...asked, "call call_0", "result call_0 ABORTED_BEFORE_DISPATCH", ...inStep]
  },
  {
    window: "tool/call is heard",
    at: of("tool/call"),
    replies: echo,
    log: [...asked, "call call_0", "result call_0 ABORTED_BEFORE_DISPATCH", ...inStep]
  },
  {
    window: "a tool policy works",
    waits: (first) => ToolHooks.PreExecute.hook("waits", (call, next) => first(next(call))),
    replies: echo,
    log: [...asked, "call call_0", "result call_0 ABORTED_BEFORE_DISPATCH", ...inStep]
  },
  {
    window: "somebody is asked for an approval",
    waits: (first) =>
      Layer.merge(
        ToolHooks.PreExecute.hook("ask", () => Effect.succeed({ kind: "ask" })),
        ToolHooks.AskApproval.hook("waits", () => first(Effect.succeedNone))
      ),
    replies: echo,
    log: [...asked, "call call_0", "result call_0 ABORTED_BEFORE_DISPATCH", ...inStep]
  },
  {
    window: "the body of a tool works",
    waits: (first) => ToolHooks.Execute.hook("waits", (call, next) => first(next(call))),
    replies: echo,
    log: [...asked, "call call_0", "result call_0 ABORTED", ...inStep]
  },
  {
    window: "the outcome of a tool is judged",
    waits: (first) => ToolHooks.PostExecute.hook("waits", (outcome, next) => first(next(outcome))),
    replies: echo,
    log: [...asked, "call call_0", "result call_0 ABORTED", ...inStep]
  },
  {
    window: "tool/result is heard",
    at: of("tool/result"),
    replies: echo,
    log: [...asked, "call call_0", "result call_0 x", ...inStep]
  },
  {
    window: "the recovery hook works",
    waits: (first) => AgentHooks.RequestError.hook("waits", (request, next) => first(next(request))),
    replies: [Reply.fail(new LlmError({ code: "SERVER", message: "down for now" }), [delta("half")])],
    log: [...sent, "chunk text-delta", "chunk finish", ...inStep]
  },
  { window: "step/end is heard", at: of("step/end"), replies: answer, log: [...answered, ...inStep] },
  {
    window: "a stopping hook works",
    waits: (first) => AgentHooks.TurnStopping.hook("waits", () => first(Effect.void)),
    replies: answer,
    log: [...answered, ...inStep]
  },
  {
    window: "turn/end is heard",
    at: of("turn/end"),
    replies: answer,
    log: [...answered, "end step 1", "end turn 1 completed"]
  }
]

const run = (
  { at, log, pending: waiting = [], provider }: Window,
  reached: Deferred.Deferred<void>,
  how: "cancel" | "dispose"
) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const runtime = yield* Effect.runtime()
    const failures: Array<string> = []
    const setup = AgentHooks.AgentFailed.hook("listen", ({ failure }) =>
      Effect.sync(() => void failures.push(failure.code))
    )
    const agent = yield* Scope.extend(make({ setup, ...(provider !== undefined && { provider }) }), scope)
    const { session } = agent
    const end = how === "cancel" ? agent.cancel() : Scope.close(scope, Exit.void)
    const ending = yield* Deferred.make<Fiber.RuntimeFiber<void>>()
    let landed = false
    yield* session.observe((entry) => {
      const event = session.at(entry.seq)
      if (landed || event === undefined || at?.(event) !== true) return
      landed = true
      Deferred.unsafeDone(ending, Effect.succeed(Runtime.runFork(runtime)(end)))
    })
    const id = yield* agent.followup("go")
    if (at === undefined) {
      yield* Deferred.await(reached)
      yield* Deferred.succeed(ending, yield* Effect.fork(end))
    }
    yield* Fiber.join(yield* Deferred.await(ending))
    yield* agent.whenIdle

    assert.deepStrictEqual(outline(session, true), log)
    assert.deepStrictEqual(pending(session), waiting)
    assert.deepStrictEqual(told(session), waiting.length === 0 ? ["go"] : [])
    assert.deepStrictEqual(failures, [])
    const cause = how === "cancel" ? ({ kind: "user" } as const) : ({ kind: "disposed" } as const)
    const aborted = { kind: "aborted", reason: cause } as const
    assert.deepStrictEqual(yield* agent.awaitTurn(id), {
      turn: 1,
      reason: log.at(-1) === "end turn 1 completed" ? { kind: "completed" } : aborted,
      entered: waiting.length === 0
    })
    if (how === "dispose") {
      assert.strictEqual((yield* Effect.flip(agent.followup("next"))).code, "AGENT_DISPOSED")
      assert.strictEqual(outline(session, true).length, log.length)
      return
    }
    yield* (yield* LlmScripted.Script).add(Reply.text("next"), Reply.text("next"))
    assert.strictEqual((yield* ask(agent, "next")).reason.kind, "completed")
    yield* agent.whenIdle
    assert.sameMembers(told(session), ["go", "next"])
    assert.isTrue(ofType(session, "turn/end").length >= 2)
    yield* Scope.close(scope, Exit.void)
  })

for (const how of ["cancel", "dispose"] as const) {
  describe(`${how} while`, () => {
    for (const row of windows) {
      const reached = Effect.runSync(Deferred.make<void>())
      const first = once(Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never))
      it.scoped(row.window, () =>
        Effect.provide(run(row, reached, how), world(row.replies ?? [], row.waits?.(first) ?? Layer.empty))
      )
    }
  })
}
