import { assert, describe, it } from "@effect/vitest"
import * as Checkpoints from "@dsh/persistence/Checkpoints"
import { StoredSessions } from "@dsh/persistence/PersistenceMemory"
import * as WriteBehind from "@dsh/persistence/WriteBehind"
import * as Llm from "@dsh/llm/Llm"
import { LlmStream } from "@dsh/llm/Llm"
import type { LlmRequest } from "@dsh/llm/LlmAdapter"
import { CallId, SessionId } from "@dsh/protocol/Ids"
import * as SessionStore from "@dsh/session/Sessions"
import { Sessions } from "@dsh/session/Sessions"
import type { Session } from "@dsh/session/Session"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import { Execute } from "@dsh/tools/ToolHooks"
import type { ToolExecution, ToolOutcome } from "@dsh/tools/ToolHooks"
import { Effect, Layer, Stream } from "effect"
import * as ValveLayer from "./support/Valve.ts"
import { Valve } from "./support/Valve.ts"

const layer = Checkpoints.layer.pipe(
  Layer.provideMerge(WriteBehind.layer),
  Layer.provideMerge(Layer.mergeAll(SessionStore.layer, ValveLayer.layer, Llm.layer, ToolHooks.layer))
)

const id = SessionId("s")

const session = Effect.gen(function* () {
  const session = yield* (yield* Sessions).create({ id })
  yield* session.append("turn/start", { turn: 1 })
  return session
})

const storedCount = Effect.map(StoredSessions, (stored) => stored.events(id).length)

const request = (sessionId: SessionId | undefined): LlmRequest => ({
  header: { config: { provider: "p", model: "m" }, wire: { format: "neutral" } },
  messages: [],
  body: { bytes: new Uint8Array(), sha256: "", of: "neutral" },
  ...(sessionId !== undefined && { sessionId })
})

/** Sends a request and tells how much was stored when it went out. */
const send = (sessionId: SessionId | undefined) =>
  Effect.gen(function* () {
    let stored = -1
    const chunks = yield* (yield* LlmStream).run(request(sessionId), () =>
      Effect.map(storedCount, (count) => {
        stored = count
        return Stream.empty
      })
    )
    yield* Stream.runDrain(chunks)
    return stored
  })

const outcome: ToolOutcome = { isError: false, value: null, content: [], additionalContexts: [], concludesTurn: false }

const execution = (session: Session | undefined, parent: symbol | undefined): ToolExecution => ({
  callId: CallId("c"),
  rootCallId: CallId("c"),
  name: "bash",
  arguments: {},
  session,
  token: Symbol("own"),
  parent
})

/** Runs a tool body and tells how much was stored when it ran. */
const call = (session: Session | undefined, parent?: symbol) =>
  Effect.gen(function* () {
    let stored = -1
    yield* (yield* Execute).run(execution(session, parent), () =>
      Effect.map(storedCount, (count) => {
        stored = count
        return outcome
      })
    )
    return stored
  })

describe("Checkpoints", () => {
  it.effect("stores the log before a request is sent", () =>
    Effect.gen(function* () {
      yield* session
      assert.strictEqual(yield* send(undefined), 0)
      assert.strictEqual(yield* send(id), 1)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("stores the log before the body of an outermost tool call runs", () =>
    Effect.gen(function* () {
      const live = yield* session
      assert.strictEqual(yield* call(undefined), 0)
      assert.strictEqual(yield* call(live, Symbol("outer")), 0)
      assert.strictEqual(yield* call(live), 1)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("when the log cannot be stored, sends no request and runs no tool", () =>
    Effect.gen(function* () {
      const valve = yield* Valve
      const live = yield* session
      valve.failing = true
      const unsent = yield* Effect.flip(send(id))
      assert.deepStrictEqual([unsent.code, unsent.isRetryable], ["CHECKPOINT_FAILED", false])
      assert.match(unsent.message, /the valve is shut; open it; no request was sent$/)
      const unrun = yield* Effect.flip(call(live))
      assert.strictEqual(unrun.code, "CHECKPOINT_FAILED")
      assert.match(unrun.message, /the valve is shut; open it; the tool did not run$/)
      assert.strictEqual(yield* storedCount, 0)
      valve.failing = false
      assert.strictEqual(yield* call(live), 1)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("is outside of every other handler", () =>
    Effect.gen(function* () {
      yield* session
      let stored = -1
      yield* (yield* LlmStream).use("other", (at, next) =>
        Effect.andThen(
          Effect.map(storedCount, (count) => (stored = count)),
          next(at)
        )
      )
      yield* send(id)
      assert.strictEqual(stored, 1)
      assert.deepStrictEqual((yield* LlmStream).names(), ["checkpoint", "other"])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})
