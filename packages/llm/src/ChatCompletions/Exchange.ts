/**
 * One request over HTTP: send the finished bytes, judge the status, read the answer.
 *
 * A reader fiber sends the request and waits for the body, whose network reads are decoded by plain code and handed over as arrays, so
 * neither a token nor a read costs an Effect; a guard looks at the clocks, so a read costs no race. The consumer is done at the end of
 * the answer; the reader stays a moment longer for the end of the body, so that the connection can be used again. That is why it lives
 * in the adapter's Scope. A consumer that leaves early takes it along.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import type * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { LlmError } from "../LlmError.ts"
import { Body } from "./Body.ts"
import type { MakeReader } from "./Body.ts"
import * as Errors from "./Errors.ts"
import type { Guard, Watched } from "./Guard.ts"
import { Handover } from "./Handover.ts"
import { readBody } from "./ReadBody.ts"
import { Watchdog } from "./Watchdog.ts"
import type { Limits } from "./Watchdog.ts"

export interface Exchange<A> {
  readonly client: HttpClient.HttpClient
  /** The whole request, body included. */
  readonly request: HttpClientRequest.HttpClientRequest
  readonly endpoint: Errors.Endpoint
  readonly limits: Limits
  readonly reader: MakeReader<A>
  /** Closes no sooner than the adapter. */
  readonly scope: Scope.Scope
  /** The adapter's own, in that Scope. */
  readonly guard: Guard
}

/** A finished answer may still be followed by usage and `[DONE]`, but not for long; in milliseconds. */
const afterFinish = 2000

/** Reading a refusal must not take longer than a person waits. */
const refusalTimeout = "10 seconds"
const longestRefusal = 64 * 1024

/** An answer under way. */
export interface Source<A> {
  /** What was read of the next network read that brought anything; `None` at the end. */
  readonly pull: Effect.Effect<Chunk.Chunk<A>, Option.Option<LlmError>>
  readonly close: Effect.Effect<void>
}

/** Sends the request. Closing the source before the answer has ended closes the connection. */
export const start = <A>(exchange: Exchange<A>): Effect.Effect<Source<A>> =>
  Effect.clockWith((clock) => {
    const conversation = new Conversation(exchange, clock)
    return Effect.zipRight(
      conversation.begin,
      Effect.succeed({ pull: conversation.handover.take, close: conversation.leave })
    )
  })

class Conversation<A> implements Watched {
  readonly exchange: Exchange<A>
  readonly handover: Handover<A>
  readonly #clock: Clock.Clock
  readonly #watchdog: Watchdog
  #body: Body<A> | undefined
  #finishedAt: number | undefined
  #reader: Fiber.RuntimeFiber<void> | undefined

  constructor(exchange: Exchange<A>, clock: Clock.Clock) {
    this.exchange = exchange
    this.#clock = clock
    this.#watchdog = new Watchdog(exchange.limits, clock)
    this.handover = new Handover({
      waits: () => this.#watchdog.resume(),
      served: () => this.#watchdog.pause()
    })
  }

  readonly begin: Effect.Effect<void> = Effect.suspend(() =>
    Effect.flatMap(Effect.forkIn(Effect.interruptible(this.#read), this.exchange.scope), (reader) => {
      this.#reader = reader
      return this.exchange.guard.watch(this)
    })
  )

  /** An answer that is complete needs no clearing up. */
  readonly leave: Effect.Effect<void> = Effect.suspend(() =>
    this.handover.isEnded || this.#reader === undefined ? Effect.void : Effect.asVoid(Fiber.interrupt(this.#reader))
  )

  /** Sends the request and reads until the end of the body. Whatever happens, the consumer hears of it. */
  readonly #read: Effect.Effect<void> = Effect.suspend(() =>
    Effect.flatMap(open(this.exchange), (response) => this.#readBody(response))
  ).pipe(
    // Also when the reader is interrupted from elsewhere: with the adapter, or by a library that is done with it.
    Effect.onExit((exit) =>
      Effect.sync(() => {
        this.exchange.guard.forget(this)
        if (Exit.isFailure(exit)) this.handover.failCause(exit.cause)
      })
    ),
    Effect.exit,
    Effect.asVoid
  )

  #readBody(response: HttpClientResponse): Effect.Effect<void, LlmError> {
    const { endpoint, reader } = this.exchange
    const body = new Body({ endpoint, requestId: Errors.requestIdOf(response.headers), reader })
    this.#body = body
    this.#watchdog.mark(false)
    return Effect.matchEffect(readBody(response, { push: (bytes) => this.#push(body, bytes), pause: this.#pause }), {
      onSuccess: () => Effect.sync(() => this.#complete(body)),
      onFailure: ({ cause }) => {
        if (!this.handover.isEnded && !body.isFinished) return Effect.fail(Errors.transport(endpoint, cause, true))
        return Effect.sync(() => this.#complete(body))
      }
    })
  }

  #push(body: Body<A>, bytes: Uint8Array): "more" | "pause" | "enough" {
    if (this.handover.isEnded) return "enough"
    const before = body.progress
    body.push(bytes)
    this.#watchdog.mark(body.progress > before)
    if (body.isOver) {
      this.#settle(body)
      return "enough"
    }
    const room = this.handover.offer(body.take())
    if (!body.isFinished || this.#finishedAt !== undefined) return room ? "more" : "pause"
    this.#finishedAt = this.#clock.unsafeCurrentTimeMillis()
    return "pause"
  }

  /** The consumer is far behind, or the answer is finished and a nearer deadline holds. */
  readonly #pause = Effect.suspend(() =>
    Effect.zipRight(
      this.#finishedAt === undefined ? Effect.void : this.exchange.guard.watch(this),
      this.handover.drained
    )
  )

  /** The body is over, wherever it stands. */
  #complete(body: Body<A>): void {
    if (this.handover.isEnded) return
    body.end()
    this.#settle(body)
  }

  #settle(body: Body<A>): void {
    this.handover.offer(body.take())
    if (body.failure === undefined) this.handover.end()
    else this.handover.fail(body.failure)
  }

  remaining(): number {
    if (this.#finishedAt !== undefined) {
      return Math.max(0, this.#finishedAt + afterFinish - this.#clock.unsafeCurrentTimeMillis())
    }
    return this.#watchdog.expiry() === undefined ? this.#watchdog.remaining() : 0
  }

  /** Tells the consumer, then ends the reader. */
  expire(): void {
    const expiry = this.#watchdog.expiry()
    if (this.#body !== undefined && this.#finishedAt !== undefined) this.#complete(this.#body)
    else if (!this.handover.isEnded && expiry !== undefined)
      this.handover.fail(Errors.timedOut(this.exchange.endpoint, expiry))
    this.#reader?.unsafeInterruptAsFork(FiberId.none)
  }
}

const open = Effect.fnUntraced(function* <A>({ client, endpoint, request }: Exchange<A>) {
  const response = yield* Effect.mapError(client.execute(request), (error) => unsent(endpoint, error))
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
const refusalBody = (response: HttpClientResponse): Effect.Effect<string> =>
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
