// One legal log, and one log per rule that breaks it.
import { assert, describe, it } from "@effect/vitest"
import { Enclosure } from "../src/Enclosure.ts"
import { CallId, MessageId } from "../src/Ids.ts"
import * as Message from "../src/Message.ts"
import type { EventType, SessionEvent, SessionEvents } from "../src/SessionEvent.ts"
import type { StreamChunk } from "../src/StreamChunk.ts"

type Made = Omit<SessionEvent, "seq">

const event = <Type extends EventType>(type: Type, data: SessionEvents[Type], more: object = {}): Made => {
  const isSurface = type === "user/message" || type === "assistant/message" || type === "tool/result"
  return { type, time: 0, data, ...(isSurface && { surfaceOp: "append" }), ...more } as Made
}

const at = { turn: 1, step: 1 }
const turn = event("turn/start", { turn: 1 })
const step = event("step/start", at)
const sent = event("request/sent", { ...at, attempt: 1, bytes: 1, sha256: "", of: "wire" })
const chunk = (one: StreamChunk) => event("assistant/chunk", { ...at, chunk: one })
const finish = chunk({ type: "finish", reason: { kind: "stop" } })
const answer = (...calls: ReadonlyArray<string>) =>
  event("assistant/message", {
    ...at,
    message: {
      id: MessageId("a"),
      role: "assistant",
      content: calls.map((id) => ({ type: "tool-call", id: CallId(id), name: "t", arguments: "{}" })),
      source: { kind: "model", provider: "p", model: "m" }
    }
  })
const call = (id: string) => event("tool/call", { ...at, callId: CallId(id), name: "t", arguments: "{}" })
const result = (id: string, error?: string) =>
  event("tool/result", {
    ...at,
    message: Message.toolResult(MessageId(`r${id}`), CallId(id), [], error !== undefined),
    ...(error !== undefined && { error: { name: error, code: error } })
  })
const endStep = event("step/end", at)
const endTurn = event("turn/end", { turn: 1, reason: { kind: "completed" } })
const asked = [turn, step, sent, finish, answer("x", "y")]

/** What is wrong with the first event that is, and which it is. */
const firstProblem = (log: ReadonlyArray<Made>): string | undefined => {
  const rules = new Enclosure()
  for (const [seq, made] of log.entries()) {
    const one = { ...made, seq } as SessionEvent
    const problem = rules.problem(one)
    if (problem !== undefined) return `${seq}: ${problem}`
    rules.apply(one)
  }
  return undefined
}

const legal: Readonly<Record<string, ReadonlyArray<Made>>> = {
  "a turn with tools": [...asked, call("x"), call("y"), result("x"), result("y"), endStep, endTurn],
  "a second turn": [turn, endTurn, event("turn/start", { turn: 2 }), event("step/start", { turn: 2, step: 1 })],
  "a failed attempt before one that succeeds": [
    turn,
    step,
    sent,
    chunk({ type: "text-delta", index: 0, text: "a" }),
    chunk({ type: "finish", reason: { kind: "error", failure: { code: "TRANSPORT", message: "" } } }),
    sent,
    chunk({ type: "block-start", index: 0, blockType: "text" }),
    chunk({ type: "usage", usage: { inputTokens: 1, outputTokens: 1 } }),
    finish,
    answer(),
    endStep
  ],
  "a call that recovery answers": [
    ...asked,
    call("x"),
    result("x", "TOOL_OUTCOME_UNKNOWN"),
    result("y", "TOOL_NOT_STARTED"),
    endStep
  ],
  "input between turns": [event("user/message", Message.user(MessageId("u"), "hi")), turn]
}

const illegal: Readonly<Record<string, readonly [log: ReadonlyArray<Made>, problem: RegExp]>> = {
  "a turn inside of a turn": [[turn, event("turn/start", { turn: 2 })], /^1: turn 2 begins inside of turn 1/],
  "a turn that is skipped": [[event("turn/start", { turn: 2 })], /^0: it names turn 2 where turn 1 belongs/],
  "a turn that ends twice": [[turn, endTurn, endTurn], /^2: .*none is open/],
  "a turn that ends inside of a step": [[turn, step, endTurn], /^2: turn 1 ends inside of step 1/],
  "a step outside of a turn": [[step], /^0: it belongs into a turn/],
  "a step inside of a step": [[turn, step, step], /^2: step 1 begins inside of step 1/],
  "a step that is skipped": [[turn, event("step/start", { turn: 1, step: 2 })], /^1: it names step 2/],
  "a step of another turn": [[turn, event("step/start", { turn: 2, step: 1 })], /^1: it names turn 2/],
  "a header outside of a turn": [[event("request/context", { tools: [] } as never)], /^0: it belongs into a turn/],
  "a request outside of a step": [[turn, sent], /^1: it belongs into a step/],
  "an answer outside of a step": [[turn, answer()], /^1: it belongs into a step/],
  "an answer without a finish": [[turn, step, sent, answer()], /^3: the answer of the model has no finish/],
  "a chunk after the finish": [[turn, step, sent, finish, finish], /^4: a finish after the finish/],
  "a second usage": [
    [turn, step, ...[1, 2].map(() => chunk({ type: "usage", usage: { inputTokens: 1, outputTokens: 1 } }))],
    /^3: a second usage/
  ],
  "a block that begins twice": [
    [turn, step, ...[1, 2].map(() => chunk({ type: "block-start", index: 0, blockType: "text" }))],
    /^3: block 0 begins twice/
  ],
  "a block without a number": [
    [turn, step, chunk({ type: "text-delta", index: -1, text: "" })],
    /^2: a block numbered -1/
  ],
  "a call that nobody asked for": [[...asked, call("z")], /^5: nobody asked for call z/],
  "a call that starts twice": [[...asked, call("x"), call("x")], /^6: call x is started twice/],
  "a result that nobody asked for": [[...asked, result("z")], /^5: nobody asked for call z/],
  "a result before its call": [[...asked, result("x")], /^5: call x is answered before it was started/],
  "a second result": [[...asked, call("x"), result("x"), result("x")], /^7: call x is answered twice/],
  "a step that leaves a call unanswered": [[...asked, call("x"), result("x"), endStep], /^7: call y is not answered/]
}

describe("Enclosure", () => {
  for (const [name, log] of Object.entries(legal)) {
    it(`accepts ${name}`, () => {
      assert.isUndefined(firstProblem(log))
    })
  }

  for (const [name, [log, problem]] of Object.entries(illegal)) {
    it(`refuses ${name}`, () => {
      assert.match(firstProblem(log) ?? "", problem)
    })
  }
})
