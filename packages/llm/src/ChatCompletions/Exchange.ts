/**
 * One request over HTTP: send the finished bytes, judge the status, read the answer.
 *
 * A reader fiber pulls the body and hands over one array per network read; a second fiber watches the clocks. So a token costs no
 * Effect, and a timeout needs no race around every read. Both fibers and the socket end with the stream's Scope.
 */
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Mailbox from "effect/Mailbox"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { LlmError } from "../LlmError.ts"
import { Body } from "./Body.ts"
import * as Errors from "./Errors.ts"
import { Watchdog } from "./Watchdog.ts"
import type { Limits } from "./Watchdog.ts"

export interface Exchange {
  readonly client: HttpClient.HttpClient
  /** The whole request, body included. */
  readonly request: HttpClientRequest.HttpClientRequest
  readonly endpoint: Errors.Endpoint
  readonly limits: Limits
  /** Ids of tool calls that the session already uses. */
  readonly isTaken: (id: string) => boolean
  /** A new unique id. */
  readonly mint: () => string
}

/** What the reader hands to the consumer: one element per network read. */
type Answer = Mailbox.Mailbox<Chunk.Chunk<StreamChunk>, LlmError>

/** How many network reads may wait for a slow consumer before the provider has to wait too. */
const readAhead = 16

/** A finished answer may still be followed by usage, but not for long; in milliseconds. */
const afterFinish = 2000

/** An answer is over at `[DONE]`. A moment longer for the end of the body lets the connection be used again. */
const afterDone = "100 millis"

/** Reading a refusal must not take longer than a person waits. */
const refusalTimeout = "10 seconds"
const longestRefusal = 64 * 1024

/** Cold: every run sends the request. Interrupting the run closes the connection. */
export const stream = (exchange: Exchange): Stream.Stream<StreamChunk, LlmError> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const watchdog = new Watchdog(exchange.limits, yield* Effect.clock)
      const response = yield* open(exchange)
      const mailbox = yield* Mailbox.make<Chunk.Chunk<StreamChunk>, LlmError>(readAhead)
      yield* Effect.forkScoped(Effect.onExit(read(exchange, response, watchdog, mailbox), (exit) => mailbox.done(exit)))
      yield* Effect.forkScoped(
        Effect.flatMap(watchdog.expired, (expiry) => mailbox.fail(Errors.timedOut(exchange.endpoint, expiry)))
      )
      return Stream.repeatEffectChunkOption(take(mailbox, watchdog))
    })
  )

const open = Effect.fnUntraced(function* ({ client, endpoint, limits, request }: Exchange) {
  const response = yield* HttpClient.withScope(client)
    .execute(request)
    .pipe(
      Effect.mapError((error) => unsent(endpoint, error)),
      Effect.timeoutFail({
        duration: limits.transportIdle,
        onTimeout: () => Errors.timedOut(endpoint, { clock: "transportIdle", limit: limits.transportIdle })
      })
    )
  if (response.status >= 200 && response.status < 300) return response
  const body = yield* refusalBody(response)
  const now = yield* Clock.currentTimeMillis
  return yield* Errors.refused(endpoint, { status: response.status, headers: response.headers, body, now })
})

const unsent = (endpoint: Errors.Endpoint, error: HttpClientError): LlmError =>
  error.reason === "InvalidUrl"
    ? new LlmError({
        code: "INVALID_REQUEST",
        message: `${Errors.visible(endpoint.url)} is not a URL that can be requested; correct ${endpoint.urlName}`,
        cause: error
      })
    : Errors.transport(endpoint, error, false)

// What can be had of the body is worth showing; that it broke off is not worth hiding the status for.
const refusalBody = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<string> =>
  Effect.suspend(() => {
    const decoder = new TextDecoder()
    let text = ""
    return response.stream.pipe(
      Stream.takeWhile(() => text.length < longestRefusal),
      Stream.runForEach((bytes) =>
        Effect.sync(() => {
          text += decoder.decode(bytes, { stream: true })
        })
      ),
      Effect.timeoutOption(refusalTimeout),
      Effect.ignore,
      Effect.map(() => text.slice(0, longestRefusal))
    )
  })

const read = (
  { endpoint, isTaken, mint }: Exchange,
  response: HttpClientResponse.HttpClientResponse,
  watchdog: Watchdog,
  mailbox: Answer
): Effect.Effect<void, LlmError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const body = new Body({ endpoint, requestId: Errors.requestIdOf(response.headers), isTaken, mint })
      const pull = yield* Stream.toPull(response.stream)
      let finishBy = 0
      while (!body.isOver) {
        const got = yield* body.isFinished ? orEnd(pull, finishBy) : Effect.either(pull)
        const wasFinished = body.isFinished
        const before = body.progress
        if (Either.isRight(got)) for (const bytes of got.right) body.push(bytes)
        else if (Option.isNone(got.left) || body.isFinished) body.end()
        else return yield* Errors.transport(endpoint, got.left.value, true)
        watchdog.mark(body.progress > before)
        if (body.isFinished && !wasFinished) finishBy = (yield* Clock.currentTimeMillis) + afterFinish
        const chunks = body.take()
        if (chunks.length > 0) yield* mailbox.offer(Chunk.unsafeFromArray(chunks))
      }
      if (body.failure !== undefined) return yield* body.failure
      yield* Effect.timeoutOption(Effect.ignore(Effect.forever(pull)), afterDone)
    })
  )

/** The consumer's side. The clocks run only while it waits here. */
const take = (mailbox: Answer, watchdog: Watchdog): Effect.Effect<Chunk.Chunk<StreamChunk>, Option.Option<LlmError>> =>
  Effect.suspend(() => {
    watchdog.resume()
    return Effect.mapBoth(mailbox.take, {
      onSuccess: (chunks) => {
        watchdog.pause()
        return chunks
      },
      onFailure: (error) => (error._tag === "LlmError" ? Option.some(error) : Option.none())
    })
  })

/** One read, or the end of the body when none comes by then. */
const orEnd = <A, E>(
  pull: Effect.Effect<A, Option.Option<E>>,
  by: number
): Effect.Effect<Either.Either<A, Option.Option<E>>> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.timeoutTo(Effect.either(pull), {
      duration: by - now,
      onTimeout: () => Either.left(Option.none()),
      onSuccess: (got) => got
    })
  )
