/**
 * One request through the library: its parts become the pieces of an answer, and how it ended is decided by what the line saw.
 */
import { AnswerWriter } from "@dsh/llm/AnswerWriter"
import type { Asked } from "@dsh/llm/AnswerWriter"
import * as ChunkStream from "@dsh/llm/ChunkStream"
import { Handover } from "@dsh/llm/LibraryTransport"
import { LlmError } from "@dsh/llm/LlmError"
import type { Message } from "@dsh/protocol/Message"
import type { EpochHeader } from "@dsh/protocol/Request"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import type { AiError } from "@effect/ai/AiError"
import * as LanguageModel from "@effect/ai/LanguageModel"
import type { Prompt } from "@effect/ai/Prompt"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Cause from "effect/Cause"
import type * as Chunk from "effect/Chunk"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Conversation from "./Conversation.ts"
import { Line } from "./Line.ts"
import type { LineOptions } from "./Line.ts"
import { Pieces } from "./Pieces.ts"
import type { Part } from "./Pieces.ts"
import * as Replay from "./Replay.ts"
import * as Tools from "./Tools.ts"

export interface Question {
  readonly header: EpochHeader
  readonly messages: ReadonlyArray<Message>
  readonly model: Layer.Layer<LanguageModel.LanguageModel, LlmError | ConfigError, HttpClient.HttpClient>
  readonly asked: Asked
  readonly line: Omit<LineOptions, "whenIdle" | "written">
}

/** Cold: each run is one request. */
export const stream = (question: Effect.Effect<Question, LlmError>): Stream.Stream<StreamChunk, LlmError> =>
  ChunkStream.fromSource(
    Effect.matchEffect(question, {
      onFailure: (error) =>
        Effect.succeed<ChunkStream.Source>({ pull: Effect.fail(Option.some(error)), close: Effect.void }),
      onSuccess: start
    })
  )

const start = (question: Question): Effect.Effect<ChunkStream.Source> =>
  Effect.suspend(() => {
    const writer = new AnswerWriter(question.asked)
    const pieces = new Pieces(writer)
    const handover = new Handover<StreamChunk>({ waits: () => {}, served: () => {} })
    // What came of one network read is handed over together, as far as the library lets see that it has worked it off; a consumer that
    // is behind holds the provider back.
    const flush = Effect.suspend(() => (handover.offer(writer.take()) ? Effect.void : handover.drained))
    const { prompt, written } = Conversation.make(question.header, question.messages)
    const line = new Line({ ...question.line, written, whenIdle: flush })

    const settle = (exit: Exit.Exit<void, Failed>): void => {
      const failure = line.failure ?? failureOf(exit, pieces, line)
      if (failure === undefined) complete(writer, pieces, line)
      handover.offer(writer.take())
      if (failure === undefined) handover.end()
      else handover.fail(failure)
    }

    const next = (pull: Pull, hasBegun: boolean): Effect.Effect<void, Failed> =>
      Effect.matchEffect(line.watched(pull, hasBegun), {
        onSuccess: (chunk) => {
          for (const part of chunk) pieces.take(part)
          return Effect.zipRight(line.isBusy ? Effect.void : flush, next(pull, true))
        },
        onFailure: Option.match({ onNone: () => Effect.void, onSome: (error) => Effect.fail(error) })
      })
    const read = Effect.scoped(
      Effect.flatMap(Stream.toPull(parts(question, prompt, line)), (pull) => next(pull, false))
    )
    return Effect.map(
      Effect.forkIn(
        Effect.interruptible(Effect.map(Effect.exit(read), settle)),
        question.line.transport.lifetime.scope
      ),
      (reader) => ({
        pull: handover.take,
        close: Effect.zipRight(Effect.asVoid(Fiber.interrupt(reader)), line.close)
      })
    )
  })

type Failed = AiError | LlmError | ConfigError
type Pull = Effect.Effect<Chunk.Chunk<Part>, Option.Option<Failed>>

const parts = ({ header, model }: Question, prompt: Prompt, line: Line) => {
  const { toolChoice, toolkit } = Tools.make(header.tools ?? [])
  const client = Layer.succeed(HttpClient.HttpClient, line.client)
  const answer = LanguageModel.streamText({
    prompt,
    toolkit,
    toolChoice,
    disableToolCallResolution: true
  })
  return Stream.provideLayer(answer, Layer.provide(model, client))
}

const complete = (writer: AnswerWriter, pieces: Pieces, line: Line): void => {
  const usage = line.usage ?? pieces.usage
  if (usage !== undefined) writer.usage(usage)
  const finish = line.isKnown ? line.finish : pieces.finish
  if (finish !== undefined) writer.finish(finish)
  writer.complete((blocks) => Replay.write(pieces.streamed, blocks))
}

/** What the library says, where the line saw nothing wrong. */
const failureOf = (exit: Exit.Exit<void, Failed>, pieces: Pieces, line: Line): LlmError | undefined => {
  if (Exit.isSuccess(exit)) {
    if (pieces.error !== undefined) return unread(line, `it reported ${JSON.stringify(pieces.error)}`)
    return line.isKnown || pieces.finish !== undefined ? undefined : line.closed
  }
  const error = Cause.failureOption(exit.cause)
  if (Option.isNone(error)) return unread(line, Cause.pretty(exit.cause))
  switch (error.value._tag) {
    case "LlmError":
      return error.value
    case "MalformedOutput":
      return new LlmError({
        code: "MALFORMED_RESPONSE",
        message: `the answer of ${line.name} cannot be read: ${line.conceal(error.value.message)}; retry the request`
      })
    case "HttpRequestError":
    case "HttpResponseError":
    case "MalformedInput":
    case "UnknownError":
      return unread(line, error.value.message)
    default:
      return new LlmError({
        code: "MISSING_CREDENTIAL",
        message: `the model of ${line.name} cannot be made: ${String(error.value)}; set what it asks for`
      })
  }
}

/** The provider is not to blame as far as can be told. */
const unread = (line: Line, why: string): LlmError =>
  new LlmError({
    code: "EFFECT_AI_ERROR",
    message: `@effect/ai could not make sense of the exchange with ${line.name}: ${line.conceal(why).slice(0, 500)}; report it, or use another adapter`
  })
