/**
 * One request through pi-ai: its events become the pieces of an answer, and how it ended is decided by what the transport saw.
 *
 * pi-ai reads on whether anybody takes its events or not. The transport asks before it gives more, so the chunks of one network read
 * are handed over together, and a consumer that is behind holds the provider back.
 */
import { AnswerWriter, isOwnReason } from "@dsh/llm/AnswerWriter"
import type { Asked } from "@dsh/llm/AnswerWriter"
import type { Source } from "@dsh/llm/ChunkStream"
import * as LibraryTransport from "@dsh/llm/LibraryTransport"
import type { Transport } from "@dsh/llm/LibraryTransport"
import { LlmError } from "@dsh/llm/LlmError"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import type { AssistantMessageEvent, SimpleStreamOptions } from "@earendil-works/pi-ai"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import type { Conversation } from "./Conversation.ts"
import * as Library from "./Library.ts"
import * as Payload from "./Payload.ts"
import { Pieces } from "./Pieces.ts"
import type { Api, Profile } from "./Profile.ts"
import * as Replay from "./Replay.ts"

export interface Question {
  readonly api: Api
  readonly ask: Library.Ask
  readonly facts: Library.Facts
  readonly profile: Omit<Profile, "api">
  readonly conversation: Conversation
  readonly options: SimpleStreamOptions
  readonly asked: Asked
  readonly transport: Transport
  readonly exchange: Omit<LibraryTransport.Options, "whenIdle">
}

/** The key is sent by the transport; pi-ai looks for one in the environment when it is given none. */
const unused = "unused"

/** The SDKs give up by themselves after a while; the limits are ours. */
const longest = 2_147_483_647

/** Sends the request. */
export const start = (question: Question): Effect.Effect<Source> =>
  Effect.sync(() => {
    const { api, ask, conversation, facts, profile, transport } = question
    const writer = new AnswerWriter(question.asked)
    const pieces = new Pieces(writer, api)
    const handover = new LibraryTransport.Handover<StreamChunk>({ waits: () => {}, served: () => {} })
    const whenIdle = Effect.zipRight(
      turn,
      Effect.suspend(() => (handover.offer(writer.take()) ? Effect.void : handover.drained))
    )
    const exchange = LibraryTransport.open(transport, { ...question.exchange, whenIdle })

    const failed = (error: LlmError): void => {
      handover.offer(writer.take())
      handover.fail(error)
    }
    const ended = (last: AssistantMessageEvent | undefined): void => {
      const failure = exchange.failure()
      if (failure !== undefined) return failed(failure)
      const reason = exchange.finish()
      // A reason that pi-ai does not know is an error to it, and an end to us.
      const isEnd = last?.type === "done" || (reason !== undefined && isOwnReason(reason))
      if (!isEnd || !exchange.isWhole()) {
        return failed(unread(exchange, last?.type === "error" ? last.error.errorMessage : undefined))
      }
      const usage = exchange.usage()
      if (usage !== undefined) writer.usage(usage)
      if (reason !== undefined) writer.finish(reason)
      writer.complete((blocks) => Replay.write(api, pieces.streamed(), blocks))
      handover.offer(writer.take())
      handover.end()
    }

    const events = Effect.try({
      try: () =>
        Library.withFetch(exchange.fetch, () =>
          ask(facts, conversation.context, {
            ...question.options,
            apiKey: unused,
            timeoutMs: longest,
            maxRetries: 0,
            onPayload: (payload) => Payload.repaired(payload, conversation, profile)
          })
        ),
      catch: (cause) => unread(exchange, String(cause))
    })
    const reading = transport.fork(
      events.pipe(
        Effect.flatMap((stream) =>
          Effect.tryPromise({ try: () => read(stream, pieces), catch: (cause) => unread(exchange, String(cause)) })
        ),
        Effect.match({ onSuccess: ended, onFailure: failed }),
        // The adapter is gone.
        Effect.onInterrupt((interruptors) =>
          Effect.sync(() => handover.failCause(Cause.interrupt(FiberId.combineAll(interruptors))))
        )
      )
    )
    return {
      pull: handover.take,
      close: Effect.suspend(() => {
        reading.unsafeInterruptAsFork(FiberId.none)
        return exchange.close
      })
    }
  })

const read = async (
  events: AsyncIterable<AssistantMessageEvent>,
  pieces: Pieces
): Promise<AssistantMessageEvent | undefined> => {
  let last: AssistantMessageEvent | undefined
  for await (const event of events) {
    pieces.take(event)
    last = event
  }
  return last
}

/** pi-ai hands on its events before the next turn of the event loop. */
const turn: Effect.Effect<void> = Effect.async((resume) => {
  const next = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(next))
})

/** The provider is not to blame as far as the transport can tell. */
const unread = (exchange: LibraryTransport.Exchange, why = "it gave no reason"): LlmError =>
  exchange.failure() ??
  new LlmError({
    code: "PI_AI_ERROR",
    message: `pi-ai could not make sense of the exchange: ${exchange.conceal(why)}; report it, or use another adapter for this provider`
  })
