import { assert, layer } from "@effect/vitest"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import { Cause, Effect, Exit, Layer, Logger, Scope, TestClock } from "effect"
import { answered, delta, events, make, named, note, now, refused, result, said, stored } from "./support.ts"

layer(Layer.empty)("Session.append", (it) => {
  it.effect("numbers from 0, takes the time from the clock, and gives back the logged event", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(0)
      const session = yield* make()
      assert.strictEqual(session.length, 0)
      assert.isUndefined(session.at(0))
      const first = yield* session.append("turn/start", { turn: 1 })
      yield* TestClock.setTime(50)
      const second = yield* session.append("user/message", said("m"))
      yield* TestClock.setTime(20)
      const third = yield* note(session, "back in time")
      assert.deepStrictEqual(first, { type: "turn/start", seq: 0, time: 0, data: { turn: 1 } })
      assert.deepStrictEqual(second, { type: "user/message", seq: 1, time: 50, data: said("m"), surfaceOp: "append" })
      assert.deepStrictEqual(third, { type: "test/noted", seq: 2, time: 20, data: { note: "back in time" } })
      assert.strictEqual(session.length, 3)
      assert.strictEqual(session.at(1), second)
      assert.deepStrictEqual(events(session), [first, second, third])
    })
  )

  it.effect("keeps a frozen copy: nobody can change the log afterwards", () =>
    Effect.gen(function* () {
      const session = yield* make()
      yield* session.append("user/message", said("m"))
      const data = { note: { list: [1] } }
      const sources: Array<number> = [0]
      const surfaceOp = { op: "replace" as const, start: 0, end: 0 }
      const logged = yield* session.append("test/noted", data)
      const replacing = yield* session.append("user/message", said("n"), { surfaceOp, sourceEventSeqs: sources })
      data.note.list.push(2)
      sources.push(1)
      surfaceOp.end = 9
      assert.deepStrictEqual(logged.data, { note: { list: [1] } })
      assert.deepStrictEqual(replacing.sourceEventSeqs, [0])
      assert.deepStrictEqual(replacing.surfaceOp, { op: "replace", start: 0, end: 0 })
      for (const part of [logged, logged.data, replacing, replacing.surfaceOp, replacing.sourceEventSeqs]) {
        assert.isTrue(Object.isFrozen(part))
      }
    })
  )

  it.effect("refuses what is not lossless JSON, naming the type and the place", () =>
    Effect.gen(function* () {
      const session = yield* make()
      for (const [value, place] of [
        [undefined, "$.note is undefined"],
        [[Number.NaN], "$.note[0] is NaN"],
        [{ when: new Map() }, "$.note.when is a class instance"]
      ] as const) {
        const { code, message } = yield* refused(note(session, value))
        assert.strictEqual(code, "NOT_LOSSLESS_JSON")
        assert.include(message, `session s: test/noted: ${place}`)
      }
      const sources = { sourceEventSeqs: [Number.NaN] }
      assert.strictEqual((yield* refused(session.append("user/message", said("m"), sources))).code, "NOT_LOSSLESS_JSON")
      assert.strictEqual(session.length, 0)
    })
  )

  it.effect("refuses a type that nobody registered", () =>
    Effect.gen(function* () {
      const session = yield* make({ isKnownType: () => false })
      assert.deepStrictEqual(yield* refused(note(session, 1)), {
        code: "UNKNOWN_EVENT_TYPE",
        message: 'session s: no extension has registered the event type "test/noted"'
      })
    })
  )

  it.effect("marks the events that a reader may skip", () =>
    Effect.gen(function* () {
      const session = yield* make({ isIgnorable: (type) => type === "test/noted" })
      assert.strictEqual((yield* note(session, 1)).ignorable, true)
      assert.notProperty(yield* session.append("turn/start", { turn: 1 }), "ignorable")
    })
  )

  it.effect("refuses what does not fit the surface, and leaves log and conversation as they were", () =>
    Effect.gen(function* () {
      const session = yield* make()
      yield* session.append("user/message", said("m"))
      const { code, message } = yield* refused(
        session.append("user/message", said("n"), { surfaceOp: { op: "replace", start: 0, end: 5 } })
      )
      assert.strictEqual(code, "INVALID_SURFACE")
      assert.include(message, "event 1 cannot take its place in the conversation")
      const misplaced = session.append("turn/start", { turn: 1 }, { surfaceOp: "append" })
      assert.strictEqual((yield* refused(misplaced)).code, "INVALID_SURFACE")
      assert.strictEqual(session.length, 1)
      assert.deepStrictEqual(session.conversation.messages, [said("m")])
      assert.strictEqual(session.conversation.generation, 0)
    })
  )

  it.effect("folds the conversation: answers, results, replacements", () =>
    Effect.gen(function* () {
      const session = yield* make()
      yield* session.append("user/message", said("m"))
      yield* session.append("assistant/message", { turn: 1, step: 1, message: answered("a") })
      yield* session.append("tool/result", { turn: 1, step: 1, message: result("r", "c", "long") })
      yield* session.append(
        "tool/result",
        { turn: 1, step: 1, message: result("r", "c", "short") },
        { surfaceOp: { op: "replace", start: 2, end: 2 }, sourceEventSeqs: [2] }
      )
      assert.deepStrictEqual(session.conversation.messages, [said("m"), result("r", "c", "short")])
      assert.strictEqual(session.conversation.generation, 1)
    })
  )

  it.effect("folds the pending input, and refuses a splice that does not fit it", () =>
    Effect.gen(function* () {
      const session = yield* make()
      const target = "next-turn"
      yield* session.append("agent/inbox/spliced", { target, start: 0, inserted: [said("a"), said("b")] })
      const again = session.append("agent/inbox/spliced", { target, start: 0, inserted: [said("b")] })
      assert.strictEqual((yield* refused(again)).code, "INVALID_INBOX_SPLICE")
      yield* session.append("user/message", said("a"))
      assert.deepStrictEqual(session.inbox, { "next-turn": [said("b")], "next-step": [] })
      assert.strictEqual(session.length, 2)
    })
  )

  it.effect("refuses everything once closed, and stays readable", () =>
    Effect.gen(function* () {
      const session = yield* make()
      yield* note(session, 1)
      yield* session.close
      const closed = { code: "SESSION_CLOSED", message: "session s: the session is closed; resume it first" } as const
      assert.deepStrictEqual(yield* refused(note(session, 2)), closed)
      assert.deepStrictEqual(yield* refused(session.appendChunks(1, 1, [delta("x")])), closed)
      assert.strictEqual(session.length, 1)
    })
  )
})

layer(Layer.empty)("Session.appendChunks", (it) => {
  const finish: StreamChunk = { type: "finish", reason: { kind: "stop" } }

  it.effect("logs each chunk as an event, with the time of the batch", () =>
    Effect.gen(function* () {
      const session = yield* make()
      yield* note(session, 1)
      yield* TestClock.setTime(9)
      assert.strictEqual(yield* session.appendChunks(2, 3, [delta("a"), delta("b"), finish]), 1)
      assert.strictEqual(yield* session.appendChunks(2, 3, []), 4)
      const chunks = [delta("a"), delta("b"), finish].map((chunk, i) =>
        stored(i + 1, "assistant/chunk", { turn: 2, step: 3, chunk }, { time: 9 })
      )
      assert.deepStrictEqual([...session.range(1)], chunks)
      assert.deepStrictEqual(session.at(2), chunks[1])
      assert.strictEqual(session.length, 4)
    })
  )

  it.scoped("tells observers of runs, which stay as they were when the log grows", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(0)
      const session = yield* make()
      const heard: Array<unknown> = []
      yield* session.observe((entry) => heard.push(entry))
      yield* session.appendChunks(1, 1, [delta("a"), delta("b")])
      yield* session.appendChunks(1, 1, [delta("c"), finish])
      const run = { kind: "text-delta", turn: 1, step: 1, index: 0 }
      assert.deepStrictEqual(heard.slice(0, 2), [
        { ...run, seq: 0, times: [0, 0], texts: ["a", "b"] },
        { ...run, seq: 2, times: [0], texts: ["c"] }
      ])
      assert.strictEqual(heard.length, 3)
    })
  )

  it.scoped("asks validators about every chunk, by those before it, and keeps what was accepted", () =>
    Effect.gen(function* () {
      const session = yield* make()
      const lengths: Array<number> = []
      yield* session.validate((candidate) => {
        lengths.push(session.length)
        return candidate.type === "assistant/chunk" && candidate.data.chunk.type === "finish" ? "no end" : undefined
      })
      const heard: Array<string> = []
      yield* session.observe((entry) => heard.push(...named(entry)))
      const { code, message } = yield* refused(session.appendChunks(1, 1, [delta("a"), delta("b"), finish, delta("c")]))
      assert.deepStrictEqual({ code, message }, { code: "INVARIANT", message: "session s: no end" })
      assert.deepStrictEqual(lengths, [0, 1, 2])
      assert.deepStrictEqual(heard, ["0 assistant/chunk", "1 assistant/chunk"])
      assert.strictEqual(session.length, 2)
    })
  )
})

layer(Layer.empty)("Session.observe", (it) => {
  it.scoped("tells every observer every event, in order, once it is in the log", () =>
    Effect.gen(function* () {
      const session = yield* make()
      const heard: Array<string> = []
      yield* session.observe((entry) => heard.push(`first ${named(entry).join()} of ${session.length}`))
      yield* session.observe((entry) => heard.push(`second ${named(entry).join()}`))
      yield* session.append("turn/start", { turn: 1 })
      yield* note(session, 1)
      assert.deepStrictEqual(heard, [
        "first 0 turn/start of 1",
        "second 0 turn/start",
        "first 1 test/noted of 2",
        "second 1 test/noted"
      ])
    })
  )

  it.scoped("an observer may append: at once in the log, heard by all in order", () =>
    Effect.gen(function* () {
      const session = yield* make()
      const heard: Array<string> = []
      yield* session.observe((entry) => {
        if (entry.seq < 2) {
          const event = now(note(session, `after ${entry.seq}`))
          assert.strictEqual(session.at(event.seq), event)
        }
        heard.push(`a${entry.seq}`)
      })
      yield* session.observe((entry) => {
        if (entry.seq === 0) now(note(session, "also"))
        heard.push(`b${entry.seq}`)
      })
      yield* session.append("turn/start", { turn: 1 })
      assert.deepStrictEqual(heard, ["a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3"])
      assert.deepStrictEqual(
        events(session).map(({ data }) => data),
        [{ turn: 1 }, { note: "after 0" }, { note: "also" }, { note: "after 1" }]
      )
    })
  )

  it.scoped("contains and logs what an observer throws, whatever it is", () =>
    Effect.gen(function* () {
      const session = yield* make()
      const heard: Array<number> = []
      const lines: Array<string> = []
      for (const thrown of [new Error("broken observer"), undefined, { toString: () => 1 }, 5n]) {
        yield* session.observe(() => {
          throw thrown
        })
      }
      yield* session.observe(({ seq }) => heard.push(seq))
      const logger = Logger.map(Logger.stringLogger, (line) => void lines.push(line))
      const logged = yield* Effect.provide(note(session, 1), Logger.add(logger))
      yield* session.appendChunks(1, 1, [delta("a")])
      assert.strictEqual(logged.seq, 0)
      assert.deepStrictEqual(heard, [0, 1])
      assert.strictEqual(lines.length, 1)
      assert.include(lines[0]!, "session s: an observer failed")
      assert.include(lines[0]!, "broken observer")
    })
  )

  it.scoped("is over with its Scope, and one function may observe twice", () =>
    Effect.gen(function* () {
      const session = yield* make()
      const heard: Array<number> = []
      const observer = ({ seq }: { readonly seq: number }) => void heard.push(seq)
      const scope = yield* Scope.make()
      yield* Scope.extend(session.observe(observer), scope)
      yield* session.observe(observer)
      yield* note(session, 1)
      yield* Scope.close(scope, Exit.void)
      yield* note(session, 2)
      assert.deepStrictEqual(heard, [0, 0, 1])
    })
  )

  it.scoped("hears nothing of what was refused", () =>
    Effect.gen(function* () {
      const session = yield* make()
      const heard: Array<number> = []
      yield* session.observe(({ seq }) => heard.push(seq))
      yield* refused(note(session, undefined))
      assert.deepStrictEqual(heard, [])
    })
  )
})

layer(Layer.empty)("Session.validate", (it) => {
  it.scoped("judges the finished event before it enters the log; the first reason vetoes", () =>
    Effect.gen(function* () {
      const session = yield* make()
      const asked: Array<string> = []
      const validator = (name: string, reason?: string) =>
        session.validate((candidate) => {
          assert.isTrue(Object.isFrozen(candidate.data))
          asked.push(`${name} ${candidate.seq} of ${session.length}`)
          return reason
        })
      yield* validator("a")
      yield* validator("b", "not now")
      yield* validator("c", "never asked")
      const veto = yield* refused(session.append("user/message", said("m")))
      assert.deepStrictEqual(veto, { code: "INVARIANT", message: "session s: not now" })
      assert.deepStrictEqual(asked, ["a 0 of 0", "b 0 of 0"])
      assert.strictEqual(session.length, 0)
      assert.deepStrictEqual(session.conversation.messages, [])
    })
  )

  it.scoped("is not asked about what is refused anyway", () =>
    Effect.gen(function* () {
      const session = yield* make()
      let asked = 0
      yield* session.validate(() => void asked++)
      yield* refused(note(session, undefined))
      yield* refused(session.append("turn/start", { turn: 1 }, { surfaceOp: "append" }))
      assert.strictEqual(asked, 0)
    })
  )

  it.scoped("is not asked about chunks by whoever says so, and they go on arriving together", () =>
    Effect.gen(function* () {
      const session = yield* make()
      const entries: Array<unknown> = []
      yield* session.observe((entry) => void entries.push(entry))
      const asked: Array<string> = []
      const judge = ({ type }: { readonly type: string }) => {
        asked.push(type)
        return type === "test/noted" ? "not now" : undefined
      }
      yield* session.validate(judge, { chunks: false })
      yield* session.appendChunks(1, 1, [delta("a"), delta("b")])
      assert.lengthOf(entries, 1)
      assert.deepStrictEqual(yield* refused(note(session, 1)), { code: "INVARIANT", message: "session s: not now" })
      // Of others who are asked about chunks it is not bothered either.
      yield* session.validate(() => undefined)
      yield* session.appendChunks(1, 1, [delta("c"), delta("d")])
      assert.lengthOf(entries, 3)
      assert.deepStrictEqual(asked, ["test/noted"])
    })
  )

  it.effect("is over with its Scope", () =>
    Effect.gen(function* () {
      const session = yield* make()
      yield* Effect.scoped(
        Effect.zipRight(
          session.validate(() => "no"),
          refused(note(session, 1))
        )
      )
      assert.strictEqual((yield* note(session, 1)).seq, 0)
    })
  )

  it.scoped("a validator that throws or appends changes nothing of the log it judges", () =>
    Effect.gen(function* () {
      const session = yield* make()
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* session.validate(() => {
            throw new Error("broken validator")
          })
          const exit = yield* Effect.exit(note(session, 1))
          assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
        })
      )
      assert.strictEqual(session.length, 0)
      let nested = false
      yield* session.validate(() => {
        if (nested) return
        nested = true
        now(note(session, "from inside"))
        return undefined
      })
      assert.deepStrictEqual(yield* refused(note(session, "outer")), {
        code: "INVARIANT",
        message: "session s: a validator appended to the log it was judging"
      })
      assert.deepStrictEqual(
        events(session).map(({ data }) => data),
        [{ note: "from inside" }]
      )
    })
  )
})
