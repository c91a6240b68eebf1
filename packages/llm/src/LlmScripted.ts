/**
 * A model that says what it was told to say: for tests, offline demos and the examples. Strict: a request beyond the script fails.
 */
import { neutral } from "@dsh/protocol/NeutralRequest"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { Llm } from "./Llm.ts"
import type { LlmAdapter, LlmRequest } from "./LlmAdapter.ts"
import { LlmError } from "./LlmError.ts"
import type { Reply } from "./LlmScripted/Reply.ts"

export * as Reply from "./LlmScripted/Reply.ts"

/** The route it serves. */
export const provider = "scripted"
export const model = "scripted-1"

/** What the model was asked and what is left to say. */
export class Script extends Context.Tag("@dsh/llm/LlmScripted/Script")<
  Script,
  {
    /** Requests in the order they were started. Messages and body are copies: the request's own go on growing. */
    readonly requests: ReadonlyArray<LlmRequest>
    /** Replies that no request has consumed yet. */
    readonly remaining: () => number
    /** Adds replies at the end of the script. */
    readonly add: (...replies: ReadonlyArray<Reply>) => Effect.Effect<void>
  }
>() {}

const make = (script: ReadonlyArray<Reply>) => {
  const replies = [...script]
  const requests: Array<LlmRequest> = []

  const stream = (request: LlmRequest): Stream.Stream<StreamChunk, LlmError> =>
    Stream.suspend(() => {
      const { body, messages } = request
      requests.push({ ...request, messages: [...messages], body: { ...body, bytes: body.bytes.slice() } })
      const reply = replies.shift()
      return reply === undefined ? Stream.fail(exhausted(requests.length)) : play(reply, request)
    })

  const adapter: LlmAdapter = {
    providers: [{ id: provider, name: "Scripted" }],
    formats: [neutral],
    models: () => Effect.succeed([{ provider, id: model, name: "Scripted" }]),
    prepare: (config) =>
      Effect.succeed({
        config,
        wire: { format: neutral.format },
        model: { provider, id: config.model, name: "Scripted" },
        stream
      })
  }

  return {
    adapter,
    script: Script.of({
      requests,
      remaining: () => replies.length,
      add: (...more) => Effect.sync(() => void replies.push(...more))
    })
  }
}

const exhausted = (n: number) =>
  new LlmError({ code: "SCRIPT_EXHAUSTED", message: `the script has no reply for request ${n}; add one` })

const play = (reply: Reply, request: LlmRequest): Stream.Stream<StreamChunk, LlmError> => {
  switch (reply.kind) {
    case "from":
      return play(reply.reply(request), request)
    case "chunks":
      return Stream.fromIterable(reply.chunks)
    case "fail":
      return Stream.concat(Stream.fromIterable(reply.chunks), Stream.fail(reply.error))
    case "hang":
      return Stream.concat(Stream.fromIterable(reply.chunks), Stream.never)
  }
}

/** The scripted model on its route, and its `Script`. */
export const layer = (script: ReadonlyArray<Reply>): Layer.Layer<Script, LlmError, Llm> =>
  Layer.scoped(
    Script,
    Effect.gen(function* () {
      const llm = yield* Llm
      const { adapter, script: service } = make(script)
      yield* llm.register(adapter)
      return service
    })
  )
