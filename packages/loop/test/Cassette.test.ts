// A whole agent, recorded and played back: the same log, and nobody is asked.
import * as Llm from "@dsh/llm/Llm"
import * as LlmCassette from "@dsh/llm/LlmCassette"
import { LlmError } from "@dsh/llm/LlmError"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import type { Scope } from "effect"
import { ask, events, make, turnErrors, world } from "./support.ts"

const { Reply } = LlmScripted

const script = [
  Reply.calls([{ name: "echo", arguments: { text: "hi" } }], "so"),
  Reply.text("done", { reasoning: "well", usage: { inputTokens: 3, outputTokens: 2 } }),
  Reply.fail(new LlmError({ code: "SERVER", message: "down", status: 503 }), [
    { type: "text-delta", index: 0, text: "par" }
  ])
]

const cassette = (file: string, mode: LlmCassette.Options["mode"]) =>
  LlmCassette.layer({ file, mode }).pipe(Layer.provide(NodeFileSystem.layer))

const inFile = <A, E>(use: (file: string) => Effect.Effect<A, E, FileSystem.FileSystem | Scope.Scope>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    return yield* use(`${yield* fs.makeTempDirectoryScoped({ prefix: "dsh-cassette-" })}/tape.jsonl`)
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

/** Two turns, and the log they leave. */
const talk = Effect.gen(function* () {
  const agent = yield* make()
  yield* ask(agent, "a")
  yield* agent.whenIdle
  yield* ask(agent, "b")
  assert.deepStrictEqual(turnErrors(agent.session), ["SERVER"])
  return events(agent.session)
}).pipe(Effect.scoped)

const silent = (file: string, mode: LlmCassette.Options["mode"]) => Layer.discard(cassette(file, mode))

/** What replaying that text, if any, says when it is opened. */
const opened = (file: string, text: string | undefined) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    if (text !== undefined) yield* fs.writeFileString(file, text)
    return yield* Effect.flip(Effect.scoped(Layer.build(Layer.provide(cassette(file, "replay"), Llm.layer))))
  })

describe("LlmCassette", () => {
  it.effect("plays back what it recorded, to the same log", () =>
    inFile((file) =>
      Effect.gen(function* () {
        const before = yield* Effect.provide(talk, world(script, silent(file, "record")))
        const after = yield* Effect.provide(talk, world([], silent(file, "replay")))
        assert.deepStrictEqual(after, before)
      })
    )
  )

  it.effect("refuses what was not asked when it was recorded", () =>
    inFile((file) =>
      Effect.gen(function* () {
        yield* Effect.provide(talk, world(script, silent(file, "record")))
        const other = Effect.gen(function* () {
          const agent = yield* make({ model: "another" })
          const { reason } = yield* ask(agent, "a")
          return reason.kind === "error" ? reason.error : undefined
        }).pipe(Effect.scoped)
        const mismatch = yield* Effect.provide(other, world([], silent(file, "replay")))
        assert.strictEqual(mismatch?.code, "CASSETTE_MISMATCH")
        assert.include(mismatch?.message, "recorded with scripted/scripted-1, and scripted/another is asked")
      })
    )
  )

  it.effect("knows when something is left, and when there is nothing more", () =>
    inFile((file) =>
      Effect.gen(function* () {
        yield* Effect.provide(talk, world(script, silent(file, "record")))
        const context = yield* Layer.build(Layer.provide(cassette(file, "replay"), Llm.layer))
        const { assertConsumed, remaining } = Context.get(context, LlmCassette.LlmCassette)
        assert.strictEqual(yield* remaining, 3)
        const left = yield* Effect.flip(assertConsumed)
        assert.include(left.message, "3 answers that nobody asked for")
        const more = Effect.gen(function* () {
          yield* talk
          const agent = yield* make()
          return (yield* ask(agent, "c")).reason
        }).pipe(Effect.scoped)
        const reason = yield* Effect.provide(more, world([], silent(file, "replay")))
        assert.strictEqual(reason.kind === "error" && reason.error.code, "CASSETTE_MISMATCH")
      })
    )
  )

  it.effect("says what is wrong with a file that is no cassette", () =>
    inFile((file) =>
      Effect.gen(function* () {
        const head = '{"type":"cassette","version":1}\n'
        const request = '{"type":"request","session":1,"provider":"p","model":"m","messages":1}\n'
        for (const [text, reason] of [
          [undefined, "record it first"],
          ["", "nothing in it"],
          ["{", "line 1 is not JSON"],
          ["{}", "line 1 is not the header"],
          ['{"type":"cassette","version":2}', "version 2"],
          [`${head}{"type":"chunks","chunks":[]}`, "line 2 holds chunks that belong to nothing"],
          [`${head}{"type":"end"}`, "line 2 ends a request"],
          [`${head}${request}${request}`, "line 3 begins a request inside"],
          [`${head}${request}`, "does not end"],
          [`${head}{"type":"what"}`, "line 2 is of no known type"]
        ] as const) {
          const error = yield* opened(file, text)
          assert.deepInclude(error, { code: "CASSETTE_UNREADABLE" }, text)
          assert.include(error.message, reason)
        }
      })
    )
  )
})
