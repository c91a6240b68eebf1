// Faults, one per row: what breaks, the whole log that results, who heard of it, and where the input is.
import * as AgentHooks from "@dsh/agent/AgentHooks"
import { AgentError } from "@dsh/agent/AgentError"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import type * as Definitions from "@dsh/loop/Definitions"
import * as Interrupted from "@dsh/protocol/Interrupted"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ask, events, make, outline, pending, refuse, told, world } from "./support.ts"

const { Reply } = LlmScripted

export interface Row {
  readonly fault: string
  /** An event that the log refuses, once unless told otherwise. */
  readonly refused?: SessionEvent["type"] | ((event: SessionEvent) => boolean)
  readonly times?: number
  /** A hook, a section or an adapter that fails once. */
  readonly broken?: () => Layer.Layer<never, unknown, Definitions.Definitions>
  readonly provider?: string
  /** Waits before the prompt "go" is sent. */
  readonly note?: string
  readonly replies?: ReadonlyArray<LlmScripted.Reply.Reply>
  readonly log: ReadonlyArray<string>
  /** What `agent/error` heard: turn, step, code. */
  readonly heard: ReadonlyArray<string>
  /** What the recovery hook was offered. Default: nothing. */
  readonly offered?: ReadonlyArray<string>
  /** Default: "go", and nothing is pending. */
  readonly history?: ReadonlyArray<string>
  readonly pending?: ReadonlyArray<string>
  /** The session takes no more turns; its log, closed as a resume closes it, does. */
  readonly breaks?: true
}

export const hookFailed = Effect.fail(new AgentError({ code: "HOOK_FAILED", message: "not now" }))
export const notStored = { code: "CHECKPOINT_FAILED", message: "the disk is full" }
export const answer = [Reply.text("answer")]

export const opened = ["queue next-turn", "turn 1"]
export const entered = [...opened, "step 1", "user go"]
export const sent = [...entered, "header initial", "context", "sent"]
export const answered = [...sent, "chunk text-delta", "chunk finish", "assistant answer"]
export const asked = [...sent, "chunk tool-call-delta", "chunk finish", "assistant <echo>"]
export const inTurn = ["end turn 1 error"]
export const inStep = ["end step 1", ...inTurn]
/** The model reads the result and goes on. */
export const wentOn = [
  "end step 1",
  "step 2",
  "sent",
  "chunk text-delta",
  "chunk finish",
  "assistant answer",
  "end step 2"
]

/** Breaks it, looks at what is left, and goes on. `held`: see `world`. */
export const check = (row: Row, held?: Layer.Layer<never>) => {
  const offered: Array<string> = []
  const recovery = AgentHooks.RequestError.hook("listen", (request, next) => {
    offered.push(`${request.provider} ${request.failure.code}`)
    return next(request)
  })
  return Effect.zipRight(
    run(row),
    Effect.sync(() => assert.deepStrictEqual(offered, row.offered ?? []))
  ).pipe(Effect.provide(world(row.replies ?? [], Layer.merge(recovery, row.broken?.() ?? Layer.empty), held)))
}

const run = (row: Row) =>
  Effect.gen(function* () {
    const { refused } = row
    const heard: Array<string> = []
    const agent = yield* make({
      ...(row.provider !== undefined && { provider: row.provider }),
      setup: AgentHooks.AgentFailed.hook("listen", ({ failure, step, turn }) =>
        Effect.sync(() => void heard.push(`${turn}.${step} ${failure.code}`))
      )
    })
    const { session } = agent
    if (refused !== undefined) {
      const which = typeof refused === "string" ? ({ type }: SessionEvent) => type === refused : refused
      yield* refuse(session, which, row.times)
    }
    if (row.note !== undefined) yield* agent.inject(row.note)
    const id = yield* agent.followup("go")
    yield* agent.whenIdle

    assert.deepStrictEqual(outline(session, true), row.log)
    assert.deepStrictEqual(heard, row.heard)
    assert.deepStrictEqual(told(session), row.history ?? ["go"])
    assert.deepStrictEqual(pending(session), row.pending ?? [])

    const { add } = yield* LlmScripted.Script
    yield* add(Reply.text("next"), Reply.text("next"))
    if (row.breaks === true) {
      const before = session.length
      const outcome = yield* agent.awaitTurn(id)
      assert.strictEqual(outcome.reason.kind === "error" && outcome.reason.error.code, "SESSION_BROKEN")
      for (const use of [
        agent.followup("next"),
        agent.inject("next"),
        agent.withdraw(id),
        agent.replace(id, "next"),
        agent.maintain(Effect.void)
      ]) {
        assert.strictEqual((yield* Effect.flip(use)).code, "SESSION_BROKEN")
      }
      assert.strictEqual(session.length, before)
      const stored = events(session)
      const resumed = yield* make({ seed: [...stored, ...Interrupted.closers(stored)] })
      assert.strictEqual((yield* ask(resumed, "next")).reason.kind, "completed")
    } else {
      assert.strictEqual((yield* ask(agent, "next")).reason.kind, "completed")
      yield* agent.whenIdle
      // Every accepted message is in the history, once.
      assert.sameMembers(told(session), [...(row.note === undefined ? [] : [row.note]), "go", "next"])
      assert.deepStrictEqual(pending(session), [])
    }
  })
