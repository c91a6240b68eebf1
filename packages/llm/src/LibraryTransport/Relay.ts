/**
 * One exchange, seen from both sides: towards the provider like that of any adapter of ours, towards the library a response of the web
 * platform whose body is read on only when the library asks.
 */
import type { TokenUsage } from "@dsh/protocol/StreamChunk"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import { Decoder } from "../ChatCompletions/Decode.ts"
import { conceal } from "../ChatCompletions/Errors.ts"
import type { Endpoint } from "../ChatCompletions/Errors.ts"
import type { EventReader, Failures } from "../ChatCompletions/EventReader.ts"
import * as Exchange from "../ChatCompletions/Exchange.ts"
import type { Options, Transport } from "../LibraryTransport.ts"
import type { LlmError } from "../LlmError.ts"
import { ChatRelay } from "./ChatRelay.ts"
import * as Dialect from "./Dialect.ts"
import { EventRelay } from "./EventRelay.ts"
import * as Outgoing from "./Outgoing.ts"
import { settled } from "./Settled.ts"

export type DialectName = "chat-completions" | "responses" | "messages"

const named = { responses: Dialect.responses, messages: Dialect.messages }

const encoder = new TextEncoder()

/** Events handed over at a time: some libraries look through all they have for each line. */
const portion = 128

export class Relay {
  /** Why there is no answer, or no more of it. */
  failure: LlmError | undefined
  readonly #transport: Transport
  readonly #options: Options
  #endpoint: Endpoint
  #reader: EventReader<string> | undefined
  #counter: { readonly reported: TokenUsage | undefined } | undefined
  #source: Exchange.Source<string> | undefined
  #pulling: Fiber.RuntimeFiber<unknown> | undefined
  #isClosed = false

  constructor(transport: Transport, options: Options) {
    this.#transport = transport
    this.#options = options
    this.#endpoint = options.endpoint
  }

  get isWhole(): boolean {
    return this.#reader?.done === true
  }

  get finish(): string | undefined {
    return this.#reader?.finish
  }

  get usage(): TokenUsage | undefined {
    return this.#counter?.reported
  }

  conceal(text: string): string {
    return conceal(this.#endpoint, text)
  }

  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    this.#isClosed = true
    this.#pulling?.unsafeInterruptAsFork(FiberId.none)
    return this.#source?.close ?? Effect.void
  })

  /** Sends the request. Answers as soon as there is something to tell the library; fails when the provider has said nothing at all. */
  respond(request: HttpClientRequest.HttpClientRequest): Effect.Effect<Response, LlmError> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(this.#send(request), (source) => {
        this.#source = source
        return Effect.onInterrupt(restore(this.#answer(source)), () => source.close)
      })
    )
  }

  #send(outgoing: HttpClientRequest.HttpClientRequest): Effect.Effect<Exchange.Source<string>> {
    if (this.#isClosed) return Effect.interrupt
    const { client, lifetime, userAgent } = this.#transport
    const { endpoint, request } = Outgoing.prepare({ ...this.#options, userAgent }, outgoing)
    this.#endpoint = endpoint
    return Exchange.start({
      client,
      request,
      endpoint,
      limits: this.#options.limits,
      ...lifetime,
      reader: (failures) => this.#read(failures)
    })
  }

  #read(failures: Failures): EventReader<string> {
    if (this.#options.dialect === "chat-completions") {
      const relay = new ChatRelay()
      this.#counter = relay
      return (this.#reader = new Decoder(relay, failures))
    }
    const relay = new EventRelay(named[this.#options.dialect], failures)
    this.#counter = relay
    return (this.#reader = relay)
  }

  #answer(source: Exchange.Source<string>): Effect.Effect<Response, LlmError> {
    return Effect.matchEffect(source.pull, {
      onSuccess: (first) => Effect.succeed(stream(this.#body(source, first))),
      onFailure: Option.match({
        onNone: () => Effect.succeed(stream("")),
        onSome: (error) => {
          this.failure = error
          return error.status === undefined ? Effect.fail(error) : Effect.succeed(refusal(error, error.status))
        }
      })
    })
  }

  #body(source: Exchange.Source<string>, first: Chunk.Chunk<string>): ReadableStream<Uint8Array> {
    let ready = Chunk.toReadonlyArray(first)
    let given = 0
    const give = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      controller.enqueue(encoder.encode(ready.slice(given, given + portion).join("")))
      given += portion
    }
    const { whenIdle = Effect.void } = this.#options
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) =>
      Effect.match(Effect.zipRight(whenIdle, source.pull), {
        onSuccess: (events) => {
          ready = Chunk.toReadonlyArray(events)
          given = 0
          give(controller)
        },
        onFailure: Option.match({
          onNone: () => controller.close(),
          onSome: (error) => {
            this.failure = error
            controller.error(error)
          }
        })
      })
    // Nothing is read ahead: what the library has not asked for holds the provider back.
    return new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          if (given < ready.length) return give(controller)
          const fiber = this.#transport.fork(pull(controller))
          this.#pulling = fiber
          return settled(fiber)
        },
        cancel: () => settled(this.#transport.fork(this.close))
      },
      { highWaterMark: 0 }
    )
  }
}

const stream = (body: ReadableStream<Uint8Array> | string): Response =>
  new Response(body, { status: 200, headers: { "content-type": "text/event-stream" } })

/** What was refused is said in the shape that all libraries read; what has no such status is a bad gateway to them. */
const refusal = ({ code, message }: LlmError, status: number): Response =>
  new Response(JSON.stringify({ type: "error", error: { type: code, code, message } }), {
    status: status >= 400 ? status : 502,
    headers: { "content-type": "application/json" }
  })
