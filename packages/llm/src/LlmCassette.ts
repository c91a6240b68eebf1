/**
 * Records what models answer to a file, and answers from it: whole programs run again without a model, a key or a network.
 *
 * A middleware around every request, so it works with any adapter. Replay is strict: a session asks what it asked when it was recorded,
 * in the same order, or it fails and says what differs; nothing is ever sent.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import type { SessionId } from "@dsh/protocol/Ids"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { LlmStream } from "./Llm.ts"
import type { LlmRequest } from "./LlmAdapter.ts"
import * as Tape from "./LlmCassette/Tape.ts"
import { LlmError } from "./LlmError.ts"

export interface Options {
  readonly file: string
  /** `record` replaces the file by what is recorded; `replay` only reads it. */
  readonly mode: "record" | "replay"
}

export class LlmCassette extends Context.Tag("@dsh/llm/LlmCassette")<
  LlmCassette,
  {
    /** How many recorded answers nobody has asked for yet. */
    readonly remaining: Effect.Effect<number>
    /** Fails with `CASSETTE_MISMATCH` when there are any. */
    readonly assertConsumed: Effect.Effect<void, LlmError>
  }
>() {}

/** Numbers sessions in the order of their first request. Requests without one are a session of their own. */
class Numbers {
  private readonly numbers = new Map<SessionId | undefined, number>()

  of(session: SessionId | undefined): number {
    let number = this.numbers.get(session)
    if (number === undefined) this.numbers.set(session, (number = this.numbers.size + 1))
    return number
  }
}

const problem = (code: "CASSETTE_MISMATCH" | "CASSETTE_UNREADABLE", file: string, message: string, cause?: unknown) =>
  new LlmError({ code, message: `the cassette ${file} ${message}`, ...(cause !== undefined && { cause }) })

const recording = (fs: FileSystem.FileSystem, file: string) =>
  Effect.gen(function* () {
    const numbers = new Numbers()
    const failed = (cause: unknown) =>
      problem("CASSETTE_UNREADABLE", file, "cannot be written; choose another file", cause)
    yield* Effect.mapError(fs.writeFileString(file, Tape.header), failed)
    const point = yield* LlmStream
    yield* point.use(
      "cassette",
      (request, next) =>
        Effect.map(next(request), (stream) =>
          Stream.unwrap(
            Effect.sync(() => {
              const reads: Array<ReadonlyArray<StreamChunk>> = []
              const { model, provider } = request.header.config
              const take = {
                session: numbers.of(request.sessionId),
                provider,
                model,
                messages: request.messages.length
              }
              const write = (failure?: LlmError) =>
                Effect.mapError(
                  fs.writeFileString(
                    file,
                    Tape.encode({ ...take, reads, ...(failure !== undefined && { failure: failure.failure }) }),
                    { flag: "a" }
                  ),
                  failed
                )
              return stream.pipe(
                Stream.mapChunks((chunks) => {
                  reads.push(Chunk.toReadonlyArray(chunks))
                  return chunks
                }),
                Stream.tapError((error) => write(error)),
                Stream.concat(Stream.execute(Effect.suspend(() => write())))
              )
            })
          )
        ),
      // Nearest to the model: what is recorded is what it said.
      { order: 1_000_000 }
    )
    return LlmCassette.of({ remaining: Effect.succeed(0), assertConsumed: Effect.void })
  })

const replaying = (fs: FileSystem.FileSystem, file: string) =>
  Effect.gen(function* () {
    const text = yield* Effect.mapError(fs.readFileString(file), (cause) =>
      problem("CASSETTE_UNREADABLE", file, "cannot be read; record it first", cause)
    )
    const takes = yield* Either.mapLeft(Tape.decode(text), (reason) =>
      problem("CASSETTE_UNREADABLE", file, `makes no sense: ${reason}; record it again`)
    )
    const left = new Map<number, Array<Tape.Take>>()
    for (const take of takes) left.set(take.session, [...(left.get(take.session) ?? []), take])
    const numbers = new Numbers()

    const answer = (request: LlmRequest): Effect.Effect<Tape.Take, LlmError> =>
      Effect.suspend(() => {
        const session = numbers.of(request.sessionId)
        const take = left.get(session)?.shift()
        const refuse = (message: string) =>
          Effect.fail(problem("CASSETTE_MISMATCH", file, `${message}; record it again`))
        if (take === undefined) return refuse(`has no further answer for session ${session}`)
        const { model, provider } = request.header.config
        const [asked, recorded] = [`${provider}/${model}`, `${take.provider}/${take.model}`]
        if (asked !== recorded) return refuse(`was recorded with ${recorded}, and ${asked} is asked`)
        const { length } = request.messages
        if (length !== take.messages)
          return refuse(`was recorded with ${take.messages} messages here, and there are ${length}`)
        return Effect.succeed(take)
      })

    const point = yield* LlmStream
    yield* point.use(
      "cassette",
      (request) =>
        Effect.succeed(
          Stream.unwrap(
            Effect.map(answer(request), ({ failure, reads }) => {
              const chunks = Stream.fromChunks(...reads.map((read) => Chunk.unsafeFromArray(read)))
              return failure === undefined ? chunks : Stream.concat(chunks, Stream.fail(new LlmError(failure)))
            })
          )
        ),
      { order: 1_000_000 }
    )
    const remaining = Effect.sync(() => [...left.values()].reduce((sum, some) => sum + some.length, 0))
    return LlmCassette.of({
      remaining,
      assertConsumed: Effect.flatMap(remaining, (count) =>
        count === 0
          ? Effect.void
          : Effect.fail(
              problem("CASSETTE_MISMATCH", file, `has ${count} answers that nobody asked for; record it again`)
            )
      )
    })
  })

/** Fails with `CASSETTE_UNREADABLE` when the file cannot be used. */
export const layer = ({ file, mode }: Options): Layer.Layer<LlmCassette, LlmError, LlmStream | FileSystem.FileSystem> =>
  Layer.scoped(
    LlmCassette,
    Effect.flatMap(FileSystem.FileSystem, (fs) => (mode === "record" ? recording(fs, file) : replaying(fs, file)))
  )
