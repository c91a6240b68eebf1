// What there is to see of a session, without a terminal: the fold of the log, the painting of items, and what may reach a terminal.
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import * as Ids from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { SessionEvents } from "@dsh/protocol/SessionEvent"
import { assert, describe, it } from "@effect/vitest"
import * as Completion from "../src/chat/Completion.ts"
import * as Painter from "../src/chat/Painter.ts"
import * as Safe from "../src/chat/Safe.ts"
import { Scrollback, stable } from "../src/chat/Scrollback.ts"
import * as Status from "../src/chat/Status.ts"
import * as Theme from "../src/chat/Theme.ts"
import { View } from "../src/chat/View.ts"

let seq = 0

const event = <Type extends keyof SessionEvents>(type: Type, data: SessionEvents[Type]): LogEntry =>
  ({ type, seq: seq++, time: 0, data }) as LogEntry

const run = (kind: "text-delta" | "reasoning-delta", texts: Array<string>, index = 0): LogEntry => ({
  kind,
  turn: 1,
  step: 1,
  index,
  seq: seq++,
  times: [],
  texts
})

const answer = (...content: Message.AssistantMessage["content"]): LogEntry =>
  event("assistant/message", {
    turn: 1,
    step: 1,
    message: {
      id: Ids.MessageId("a"),
      role: "assistant",
      content,
      source: { kind: "model", provider: "p", model: "m" }
    }
  })

const call = (callId: string, command: string): LogEntry =>
  event("tool/call", {
    turn: 1,
    step: 1,
    callId: Ids.CallId(callId),
    name: "bash",
    arguments: JSON.stringify({ command })
  })

const result = (callId: string, text: string, isError = false): LogEntry =>
  event("tool/result", {
    turn: 1,
    step: 1,
    message: Message.toolResult(Ids.MessageId(`r-${callId}`), Ids.CallId(callId), [{ type: "text", text }], isError)
  })

const user = (text: string): LogEntry => event("user/message", Message.user(Ids.MessageId(`u-${text}`), text))

const view = (...entries: ReadonlyArray<LogEntry>): View => {
  const folded = new View(new Map())
  for (const entry of entries) folded.take(entry)
  return folded
}

const start = event("turn/start", { turn: 1 })
const completed = event("turn/end", { turn: 1, reason: { kind: "completed" } })

const options: Painter.Options = { theme: Theme.make(false), tools: undefined, reasoning: false, details: false }

const lines = (shown: View, width = 40) =>
  shown.items.flatMap((item) => Painter.paint(item, width, options).map((line) => line.trimEnd()))

describe("the view of a session", () => {
  it("shows what is streamed once, and settles it when the answer is complete", () => {
    const shown = view(
      start,
      user("go"),
      run("reasoning-delta", ["First ", "this."]),
      run("text-delta", ["The ", "an"], 1)
    )
    assert.isTrue(shown.isRunning)
    assert.strictEqual(shown.settled(), 2)
    shown.take(run("text-delta", ["swer."], 1))
    shown.take(answer({ type: "reasoning", text: "First this." }, { type: "text", text: "The answer." }))
    shown.take(completed)
    assert.isFalse(shown.isRunning)
    assert.strictEqual(shown.settled(), 3)
    assert.deepStrictEqual(lines(shown), ["> go", "thought 1 line (Ctrl+T): First this.", "The answer."])
  })

  it("shows an answer that was not streamed, as a log that is read again has it", () => {
    const shown = view(start, user("go"), answer({ type: "text", text: "All at once." }), completed)
    assert.deepStrictEqual(lines(shown), ["> go", "All at once."])
  })

  it("keeps calls with their results, in the order of the calls, and settles them one by one", () => {
    const shown = view(start, call("1", "one"), call("2", "two"), result("2", "second\n"))
    assert.strictEqual(shown.settled(), 0)
    shown.take(result("1", "no such thing", true))
    assert.strictEqual(shown.settled(), 2)
    assert.deepStrictEqual(lines(shown), [
      `✗ bash {"command":"one"}`,
      "    no such thing",
      `● bash {"command":"two"}`,
      "    second"
    ])
    const open = view(start, call("1", "one"), event("turn/end", { turn: 1, reason: { kind: "interrupted" } }))
    assert.strictEqual(open.settled(), 2)
    assert.include(lines(open).join(), "! this was interrupted")
  })

  it("says how a turn ended that is not complete, and what was tried again", () => {
    const failure = { code: "RATE_LIMIT", message: "slow down" }
    const shown = view(
      start,
      run("text-delta", ["Half"]),
      event("llm/retry", {
        turn: 1,
        step: 1,
        retry: 1,
        delayMs: 1500,
        failure,
        maxRetries: 5
      } as SessionEvents["llm/retry"]),
      run("text-delta", ["Whole"]),
      answer({ type: "text", text: "Whole" }),
      event("turn/end", { turn: 1, reason: { kind: "error", error: failure } })
    )
    assert.deepStrictEqual(lines(shown, 80), [
      "Half",
      "! RATE_LIMIT: slow down; retry 1 in 1.5 s",
      "Whole",
      "✗ RATE_LIMIT: slow down"
    ])
  })

  it("shows commands with what came of them, and hides what only led elsewhere", () => {
    const shown = view(
      event("command/run", { commandId: "1", name: "model", args: "x", source: "chat" }),
      event("command/done", { commandId: "1", kind: "error", text: "no" }),
      event("command/run", { commandId: "2", name: "new", source: "chat" }),
      event("command/done", { commandId: "2", kind: "success" })
    )
    assert.deepStrictEqual(lines(shown), ["> /model x", "  no"])
  })

  it("waits for nothing in the log of a process that is gone", () => {
    const shown = view(
      start,
      event("command/run", { commandId: "1", name: "slow", source: "chat" }),
      call("1", "x"),
      run("text-delta", ["Half"])
    )
    assert.strictEqual(shown.settled(), 0)
    shown.abandon()
    assert.isFalse(shown.isRunning)
    assert.strictEqual(shown.settled(), 3)
  })

  it("has nothing in it that a terminal would act upon, however it is cut", () => {
    const shown = view(
      start,
      user("a\u001b[2Jb"),
      run("text-delta", ["x\u001b", "[31", "my\u001b]0;ti", "tle\u0007z\r", "\nw\u0000\u202e"]),
      call("1", "x"),
      result("1", "\u001b[5mout\u009b2J")
    )
    // oxlint-disable-next-line no-control-regex
    assert.notMatch(
      JSON.stringify(shown.items.map((item) => ("text" in item ? item.text : item))),
      /\\u00(?!0a)|\u202e/
    )
    assert.deepInclude(shown.items[1], { text: "xyz\nw\ufffd\ufffd" })
  })
})

describe("what may be written to a terminal", () => {
  it("is text without sequences, and of painted lines colours alone", () => {
    assert.strictEqual(Safe.text("plain\ttext\n"), "plain\ttext\n")
    assert.strictEqual(Safe.text("a\u001b[31mred\u001b[0m\u001b]8;;x\u0007link\r\nb\rc\u0085"), "aredlink\nb\nc\ufffd")
    assert.strictEqual(Safe.oneLine(" a\n\tb "), "a b")
    const line = "\u001b[31mred\u001b[0m\u001b[2J\u0007\u001b]0;x"
    assert.strictEqual(Safe.painted(line, true), "\u001b[31mred\u001b[0m[2J]0;x")
    assert.strictEqual(Safe.painted("\u001b[31mred\u001b[7m \u001b[27m", false), "red\u001b[7m \u001b[27m")
  })
})

describe("the scrollback", () => {
  it("takes what will not change any more, block by block", () => {
    assert.strictEqual(stable("One paragraph"), 0)
    assert.strictEqual(stable("One.\n\nTwo"), "One.\n\n".length)
    assert.strictEqual(stable("One.\n\n```\ncode\n\nmore"), "One.\n\n".length)
    const shown = view(start, run("text-delta", ["One.\n\nTw"]))
    const scrollback = new Scrollback(0)
    assert.deepStrictEqual(scrollback.advance(shown, 40, options), ["", "One."])
    assert.deepStrictEqual(scrollback.rest(shown, 40, options), ["", "Tw"])
    shown.take(run("text-delta", ["o.\n\n- a\n"]))
    assert.deepStrictEqual(scrollback.advance(shown, 40, options), ["", "Two."])
    shown.take(answer({ type: "text", text: "One.\n\nTwo.\n\n- a\n" }))
    assert.deepStrictEqual(scrollback.advance(shown, 40, options), ["", "- a"])
    assert.deepStrictEqual(scrollback.rest(shown, 40, options), [])
    assert.deepStrictEqual(scrollback.tail(shown, 40, 1, options), ["", "One.", "", "Two.", "", "- a"])
  })
})

describe("completion", () => {
  const provider = Completion.make({
    commands: () => [
      { name: "new", description: "New.", handler: () => assert.fail() },
      { name: "model", description: "Model.", input: { hint: "[M]" }, handler: () => assert.fail() }
    ],
    values: (name) => Promise.resolve(name === "model" ? [{ value: "p/big", label: "big" }] : []),
    paths: (query) => Promise.resolve([{ path: `${query}x y/`, type: "directory" }])
  })
  const { signal } = new AbortController()
  const suggest = async (line: string, row = 0) => {
    const found = await provider.getSuggestions(
      Array.from({ length: row + 1 }, () => line),
      row,
      line.length,
      { signal }
    )
    return found?.items.map(({ value }) => value)
  }
  const apply = (line: string, value: string) =>
    provider.applyCompletion([line], 0, line.length, { value, label: value }, "").lines[0]

  it("is of commands on the first line, of what they take, and of paths anywhere", async () => {
    assert.deepStrictEqual(await suggest("/"), ["/new", "/model"])
    assert.deepStrictEqual(await suggest("/mo"), ["/model"])
    assert.isUndefined(await suggest("/mo", 1))
    assert.isUndefined(await suggest("see /mo"))
    assert.deepStrictEqual(await suggest("/model BI"), ["p/big"])
    assert.deepStrictEqual(await suggest("see @a", 1), [`@"ax y/"`])
    assert.deepStrictEqual(await suggest(`see @"a b`), [`@"a bx y/"`])
    assert.isUndefined(await suggest("mail@a"))
  })

  it("means what was typed, also when that was faster than the list", async () => {
    await suggest("/mo")
    assert.strictEqual(apply("/mo", "/model"), "/model ")
    await suggest("/")
    assert.strictEqual(apply("/mod", "/new"), "/model ")
    assert.strictEqual(apply("/nothing", "/new"), "/nothing")
    await suggest("see @a")
    assert.strictEqual(apply("see @a", `@"ax y/"`), `see @"ax y/"`)
    assert.strictEqual(apply("see @other", `@"ax y/"`), "see @other")
  })
})

describe("the status", () => {
  it("is short", () => {
    assert.deepStrictEqual([987, 12_345, 123_456, 999_960, 4_500_000].map(Status.short), [
      "987",
      "12.3k",
      "123k",
      "1.0M",
      "4.5M"
    ])
    const standing = { model: "m", permission: "p", usage: "u", hint: undefined }
    assert.strictEqual(Status.footer(standing, 80, options.theme), "m · p · u")
    assert.strictEqual(Status.footer({ ...standing, hint: "Ctrl+C" }, 80, options.theme), "Ctrl+C")
  })
})
