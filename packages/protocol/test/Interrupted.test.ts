import { assert, describe, it } from "@effect/vitest"
import { CallId, MessageId } from "../src/Ids.ts"
import * as Conversation from "../src/Conversation.ts"
import * as Interrupted from "../src/Interrupted.ts"
import * as LogCheck from "../src/LogCheck.ts"
import * as Message from "../src/Message.ts"
import type { EventType, SessionEvent, SessionEvents } from "../src/SessionEvent.ts"
import * as Either from "effect/Either"

const log = () => {
  const events: Array<SessionEvent> = []
  const add = <Type extends EventType>(type: Type, data: SessionEvents[Type]) => {
    const isSurface = type === "user/message" || type === "assistant/message" || type === "tool/result"
    // The caller's type ties the data to it.
    events.push({
      type,
      seq: events.length,
      time: 1000 + events.length,
      data,
      ...(isSurface && { surfaceOp: "append" })
    } as unknown as SessionEvent)
  }
  return { events, add }
}

const call = (id: string) => ({ type: "tool-call" as const, id: CallId(id), name: "bash", arguments: "{}" })

/** Two turns, the second with two steps and three calls. */
const conversation = () => {
  const { add, events } = log()
  const at = { turn: 2, step: 1 }
  add("turn/start", { turn: 1 })
  add("turn/end", { turn: 1, reason: { kind: "completed" } })
  add("turn/start", { turn: 2 })
  add("step/start", at)
  add("user/message", Message.user(MessageId("u"), "go"))
  add("assistant/chunk", { ...at, chunk: { type: "text-delta", index: 0, text: "I" } })
  add("assistant/message", {
    ...at,
    message: {
      id: MessageId("a"),
      role: "assistant",
      content: [call("x"), call("y"), call("z")],
      source: { kind: "model", model: "m", provider: "p" }
    }
  })
  add("tool/call", { ...at, callId: CallId("x"), name: "bash", arguments: "{}" })
  add("tool/result", { ...at, message: Message.toolResult(MessageId("rx"), CallId("x"), [], false) })
  add("tool/call", { ...at, callId: CallId("y"), name: "bash", arguments: "{}" })
  add("tool/result", { ...at, message: Message.toolResult(MessageId("ry"), CallId("y"), [], false) })
  add("tool/call", { ...at, callId: CallId("z"), name: "bash", arguments: "{}" })
  add("tool/result", { ...at, message: Message.toolResult(MessageId("rz"), CallId("z"), [], false) })
  add("step/end", at)
  add("step/start", { turn: 2, step: 2 })
  add("step/end", { turn: 2, step: 2 })
  add("turn/end", { turn: 2, reason: { kind: "completed" } })
  return events
}

const summary = (events: ReadonlyArray<SessionEvent>) =>
  events.map((event) =>
    event.type === "tool/result"
      ? `${event.data.message.source.callId} ${event.data.error?.code} ${JSON.stringify(event.sourceEventSeqs ?? [])}`
      : event.type
  )

describe("Interrupted", () => {
  it("closes nothing that is closed", () => {
    assert.deepStrictEqual(Interrupted.closers([]), [])
    assert.deepStrictEqual(Interrupted.closers(conversation()), [])
    assert.deepStrictEqual(Interrupted.closers(conversation().slice(0, 2)), [])
  })

  it("answers what was asked for, ends the step and the turn", () => {
    const all = conversation()
    const at = (length: number) => summary(Interrupted.closers(all.slice(0, length)))
    assert.deepStrictEqual(at(3), ["turn/end"])
    assert.deepStrictEqual(at(4), ["step/end", "turn/end"])
    assert.deepStrictEqual(at(6), ["step/end", "turn/end"])
    assert.deepStrictEqual(at(7), [
      "x TOOL_NOT_STARTED []",
      "y TOOL_NOT_STARTED []",
      "z TOOL_NOT_STARTED []",
      "step/end",
      "turn/end"
    ])
    assert.deepStrictEqual(at(10), ["y TOOL_OUTCOME_UNKNOWN [9]", "z TOOL_NOT_STARTED []", "step/end", "turn/end"])
    assert.deepStrictEqual(at(13), ["step/end", "turn/end"])
    assert.deepStrictEqual(at(14), ["turn/end"])
    assert.deepStrictEqual(at(15), ["step/end", "turn/end"])
  })

  it("leaves a log that a reader accepts, wherever it was cut", () => {
    const all = conversation()
    for (let length = 0; length <= all.length; length++) {
      const kept = all.slice(0, length)
      const closed = [...kept, ...Interrupted.closers(kept)]
      const folded = Conversation.empty()
      closed.forEach((event, seq) => {
        assert.strictEqual(event.seq, seq)
        assert.isUndefined(LogCheck.problemOf(event))
        assert.isTrue(Either.isRight(folded.check(event)))
        folded.apply(event)
      })
      assert.deepStrictEqual(Interrupted.closers(closed), [])
      assert.deepStrictEqual(Interrupted.closers(kept), closed.slice(length))
      assert.isTrue(closed.slice(length).every(({ time }) => time === kept[length - 1]?.time))
    }
  })
})
