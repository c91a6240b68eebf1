import { neutral } from "@dsh/protocol/NeutralRequest"
import type { RequestFormat } from "@dsh/protocol/Request"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import { assert, describe, it, layer } from "@effect/vitest"
import { Cause, Chunk, Deferred, Effect, Either, Exit, Fiber, Layer, Scope, Stream } from "effect"
import * as Llm from "../src/Llm.ts"
import type { AdapterCall } from "../src/LlmAdapter.ts"
import { LlmError, retryableCodes } from "../src/LlmError.ts"
import { adapter, answer, delta, request, stop } from "./support/Request.ts"

const routes = Effect.flatMap(Llm.Llm, (llm) => Effect.map(llm.providers, (all) => all.map(({ id }) => id)))
const register = (...args: Parameters<typeof adapter>) =>
  Effect.flatMap(Llm.Llm, (llm) => llm.register(adapter(...args)))

layer(Llm.layer)("Llm, the registry", (it) => {
  it.scoped("serves the routes of every adapter, in order", () =>
    Effect.gen(function* () {
      yield* register(["b", "a"])
      yield* register(["c"])
      const llm = yield* Llm.Llm
      assert.deepStrictEqual(yield* llm.providers, [
        { id: "b", name: "B" },
        { id: "a", name: "A" },
        { id: "c", name: "C" }
      ])
      assert.deepStrictEqual(yield* llm.models("a"), [{ provider: "a", id: "a-model", name: "m" }])
    })
  )

  it.scoped("prepares a call with the adapter of its route, for its purpose", () =>
    Effect.gen(function* () {
      yield* register(["a"])
      const llm = yield* Llm.Llm
      const config = { provider: "a", model: "m" }
      const { adapterDefaults, config: resolved, model } = yield* llm.prepare(config)
      assert.deepStrictEqual(resolved, { ...config, maxTokens: 100 })
      assert.deepStrictEqual(adapterDefaults, { maxTokens: true })
      assert.strictEqual(model.id, "m")
      assert.strictEqual((yield* llm.prepare(config, "compaction")).config.maxTokens, 10)
    })
  )

  it.scoped("refuses a route that is taken, and then registers nothing of that adapter", () =>
    Effect.gen(function* () {
      yield* register(["a"])
      const error = yield* Effect.flip(Effect.scoped(register(["b", "a"])))
      assert.strictEqual(error.code, "DUPLICATE_ADAPTER")
      assert.include(error.message, 'the route "a" is already served')
      assert.deepStrictEqual(yield* routes, ["a"])
    })
  )

  it.scoped("forgets the routes of an adapter with its Scope, and no others", () =>
    Effect.gen(function* () {
      yield* register(["a"])
      const scope = yield* Scope.make()
      yield* Scope.extend(register(["b", "c"]), scope)
      assert.deepStrictEqual(yield* routes, ["a", "b", "c"])
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* routes, ["a"])
      yield* register(["c"])
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* routes, ["a", "c"])
    })
  )

  it.scoped("says which routes there are when nobody serves one", () =>
    Effect.gen(function* () {
      const llm = yield* Llm.Llm
      const none = yield* Effect.flip(llm.prepare({ provider: "x", model: "m" }))
      assert.strictEqual(none.code, "NO_ADAPTER")
      assert.strictEqual(none.message, 'no model adapter serves "x"; none is registered')
      yield* register(["a", "b"])
      const other = yield* Effect.flip(llm.models("x"))
      assert.strictEqual(other.code, "NO_ADAPTER")
      assert.strictEqual(other.message, 'no model adapter serves "x"; registered: a, b')
    })
  )

  it.scoped("refuses an adapter without a route, and one that names a route twice", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(register([]))).code, "INVALID_ADAPTER")
      assert.strictEqual((yield* Effect.flip(register(["a", ""]))).code, "INVALID_ADAPTER")
      assert.strictEqual((yield* Effect.flip(register(["a", "a"]))).code, "DUPLICATE_ADAPTER")
      assert.deepStrictEqual(yield* routes, [])
    })
  )

  it.scoped("replaces an adapter by another at once, or not at all", () =>
    Effect.gen(function* () {
      const llm = yield* Llm.Llm
      yield* register(["x"])
      const scope = yield* Scope.make()
      const mine = yield* Scope.extend(register(["a", "b"]), scope)
      const before = yield* llm.prepare({ provider: "a", model: "m" })
      const failed = yield* Effect.flip(mine.replace(adapter(["c", "x"])))
      assert.strictEqual(failed.code, "DUPLICATE_ADAPTER")
      assert.deepStrictEqual(yield* routes, ["x", "a", "b"])
      yield* mine.replace(adapter(["b", "c"], { stream: () => Stream.make(delta("new"), stop) }))
      assert.deepStrictEqual(yield* routes, ["x", "b", "c"])
      assert.deepStrictEqual(yield* answer(request("hi", "b")), [delta("new"), stop])
      // What was prepared before is still the old one's.
      const chunks = yield* Stream.runCollect(yield* Llm.stream(before, request("hi", "a")))
      assert.deepStrictEqual([...chunks], [delta("hi"), stop])
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* routes, ["x"])
      assert.strictEqual((yield* Effect.flip(mine.replace(adapter(["b"])))).code, "REGISTRATION_DISPOSED")
    })
  )

  it.scoped("tells who serves what after every change, and not after one that failed", () =>
    Effect.gen(function* () {
      const told: Array<ReadonlyArray<string>> = []
      const heard = Llm.LlmAdaptersUpdated.hook("test", (providers) =>
        Effect.sync(() => void told.push(providers.map(({ id }) => id)))
      )
      yield* Effect.provide(
        Effect.scoped(
          Effect.gen(function* () {
            const { replace } = yield* register(["a"])
            yield* Effect.exit(register(["b", "a"]))
            yield* replace(adapter(["b"]))
          })
        ),
        heard
      )
      assert.deepStrictEqual(told, [["a"], ["b"], []])
    })
  )

  it.scoped("a prepared call is good for one request, while its adapter is registered", () =>
    Effect.gen(function* () {
      const llm = yield* Llm.Llm
      yield* register(["a"])
      const send = (call: AdapterCall) =>
        Effect.flatMap(Llm.stream(call, request()), (stream) => Effect.either(Stream.runDrain(stream)))
      const call = yield* llm.prepare({ provider: "a", model: "m" })
      assert.isTrue(Either.isRight(yield* send(call)))
      const again = yield* send(call)
      assert.strictEqual(Either.isLeft(again) ? again.left.code : "", "INVALID_PREPARED_CALL")
      const late = yield* Effect.scoped(Effect.zipRight(register(["b"]), llm.prepare({ provider: "b", model: "m" })))
      const gone = yield* send(late)
      assert.strictEqual(Either.isLeft(gone) ? gone.left.code : "", "REGISTRATION_DISPOSED")
    })
  )

  it.scoped("finds request formats by name, the neutral one always", () =>
    Effect.gen(function* () {
      const llm = yield* Llm.Llm
      const wire: RequestFormat = { ...neutral, format: "wire", of: "wire" }
      assert.isUndefined(llm.format("wire"))
      assert.strictEqual(llm.format("neutral"), neutral)
      yield* register(["a"], { formats: [wire] })
      assert.strictEqual(llm.format("wire"), wire)
      assert.strictEqual(llm.format("neutral"), neutral)
    })
  )

  it.effect("an adapter may come as a Layer", () =>
    Effect.gen(function* () {
      const served = Llm.layerAdapter(Effect.succeed(adapter(["a"])))
      assert.deepStrictEqual(yield* Effect.provide(routes, served), ["a"])
      assert.deepStrictEqual(yield* routes, [])
      const twice = Layer.merge(served, Layer.fresh(served))
      assert.strictEqual((yield* Effect.flip(Effect.provide(Effect.void, twice))).code, "DUPLICATE_ADAPTER")
    })
  )
})

layer(Llm.layer)("Llm.stream", (it) => {
  const failure = new LlmError({
    code: "RATE_LIMIT",
    message: "slow down",
    status: 429,
    providerRetryAfterMs: 5,
    cause: new Error("socket")
  })

  it.scoped("gives back what the adapter streams", () =>
    Effect.gen(function* () {
      yield* register(["p"])
      assert.deepStrictEqual(yield* answer(request()), [delta("hi"), stop])
    })
  )

  it.scoped("keeps the chunks of one network read together", () =>
    Effect.gen(function* () {
      const reads = [Chunk.make(delta("a"), delta("b")), Chunk.make(delta("c"), stop)]
      yield* register(["p"], { stream: () => Stream.fromChunks(...reads) })
      const call = yield* (yield* Llm.Llm).prepare({ provider: "p", model: "m" })
      const sizes = yield* Stream.runCollect(Stream.map(Stream.chunks(yield* Llm.stream(call, request())), Chunk.size))
      assert.deepStrictEqual([...sizes], [2, 2])
    })
  )

  it.scoped("leaves a failure of the adapter to the caller, after what came before it", () =>
    Effect.gen(function* () {
      const heard: Array<StreamChunk> = []
      yield* register(["p"], { stream: () => Stream.concat(Stream.make(delta("par")), Stream.fail(failure)) })
      const call = yield* (yield* Llm.Llm).prepare({ provider: "p", model: "m" })
      const reading = Stream.runForEach(yield* Llm.stream(call, request()), (chunk) =>
        Effect.sync(() => heard.push(chunk))
      )
      const error = yield* Effect.flip(reading)
      assert.deepStrictEqual(heard, [delta("par")])
      assert.deepStrictEqual(Llm.failed(error), {
        type: "finish",
        reason: {
          kind: "error",
          failure: { code: "RATE_LIMIT", message: "slow down", status: 429, providerRetryAfterMs: 5 }
        }
      })
    })
  )

  it.scoped("leaves a defect of the adapter a defect", () =>
    Effect.gen(function* () {
      yield* register(["p"], { stream: () => Stream.die("bug") })
      const exit = yield* Effect.exit(answer(request()))
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
    })
  )

  it.scoped("interrupting the reader interrupts the adapter", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      yield* register(["p"], {
        stream: () =>
          Stream.make(delta("a")).pipe(
            Stream.concat(Stream.fromEffect(Deferred.succeed(started, undefined)).pipe(Stream.drain)),
            Stream.concat(Stream.never),
            Stream.ensuring(Deferred.succeed(stopped, undefined))
          )
      })
      const fiber = yield* Effect.fork(answer(request()))
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(stopped)
    })
  )

  it.scoped("runs every request through the middleware, which may watch and replace the stream", () =>
    Effect.gen(function* () {
      yield* register(["p"])
      const point = yield* Llm.LlmStream
      const seen: Array<string> = []
      yield* point.use("watches", (asked, next) =>
        Effect.map(
          next(asked),
          Stream.tap((chunk) => Effect.sync(() => void seen.push(chunk.type)))
        )
      )
      yield* answer(request())
      assert.deepStrictEqual(seen.splice(0), ["text-delta", "finish"])
      yield* point.use("replaces", () => Effect.succeed(Stream.make(delta("cached"), stop)), { order: -1 })
      assert.deepStrictEqual(yield* answer(request()), [delta("cached"), stop])
      assert.deepStrictEqual(seen, [])
    })
  )

  it.scoped("a failure of the middleware is the caller's, as an effect and as a stream", () =>
    Effect.gen(function* () {
      yield* register(["p"])
      const point = yield* Llm.LlmStream
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* point.use("fails", () => failure)
          assert.strictEqual((yield* Effect.flip(answer(request()))).code, "RATE_LIMIT")
        })
      )
      yield* point.use("fails later", (asked, next) => Effect.map(next(asked), Stream.concat(Stream.fail(failure))))
      assert.strictEqual((yield* Effect.flip(answer(request()))).code, "RATE_LIMIT")
    })
  )

  it.scoped("the middleware cannot change the request", () =>
    Effect.gen(function* () {
      const sent: Array<unknown> = []
      yield* register(["p"], { stream: (at) => Stream.sync(() => (sent.push(at), stop)) })
      yield* (yield* Llm.LlmStream).use("meddles", (_, next) => next(request("something else")))
      const asked = request("as logged")
      yield* answer(asked)
      assert.deepStrictEqual(sent, [asked])
    })
  )
})

describe("LlmError", () => {
  it("has a plain form with what is known, and nothing else", () => {
    const bare = new LlmError({ code: "SERVER", message: "broken" })
    assert.deepStrictEqual(bare.failure, { code: "SERVER", message: "broken" })
    const full = { code: "SERVER", message: "broken", status: 500, providerRetryAfterMs: 1, requestId: "r" }
    assert.deepStrictEqual(new LlmError({ ...full, cause: new Error("x") }).failure, full)
  })

  it("knows which failures a later attempt may not see", () => {
    for (const code of retryableCodes) assert.isTrue(new LlmError({ code, message: "" }).isRetryable, code)
    for (const code of ["INVALID_CREDENTIAL", "QUOTA", "CONTEXT_WINDOW_EXCEEDED", "UNKNOWN"]) {
      assert.isFalse(new LlmError({ code, message: "" }).isRetryable, code)
    }
  })
})
