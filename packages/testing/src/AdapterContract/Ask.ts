/**
 * One question to an adapter, over real HTTP, and what came of it.
 */
import type { LlmAdapter, LlmRequest } from "@dsh/llm/LlmAdapter"
import { LlmError } from "@dsh/llm/LlmError"
import * as BlockAssembler from "@dsh/protocol/BlockAssembler"
import { MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { EpochHeader } from "@dsh/protocol/Request"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Subject, Timeouts } from "../AdapterContract.ts"
import * as MockLlm from "../MockLlm.ts"
import * as Script from "../Script.ts"
import { ContractViolation } from "./Expect.ts"
import { brokenRule } from "./Grammar.ts"

export const apiKey = Redacted.make("sk-contract-0123456789")

export const hello: ReadonlyArray<Message.Message> = [Message.user(MessageId("m1"), "hi")]

export interface Question {
  readonly messages?: ReadonlyArray<Message.Message>
  readonly header?: Pick<EpochHeader, "system" | "tools">
  readonly timeouts?: Timeouts
}

/** No case takes as long as this, in a test that is not stuck. */
const deadline = "15 seconds"

/** The request an adapter is asked to send, and the stream that sends it. */
export const prepare = (
  adapter: LlmAdapter,
  model: string,
  { header, messages = hello }: Question = {}
): Effect.Effect<{ readonly request: LlmRequest; readonly stream: Stream.Stream<StreamChunk, LlmError> }, LlmError> =>
  Effect.gen(function* () {
    const provider = adapter.providers[0]?.id ?? ""
    const { config, stream, wire } = yield* adapter.prepare({ provider, model }, "agent")
    const full: EpochHeader = { config, wire, ...header }
    const bytes = render(adapter, full, messages)
    const of = formatOf(adapter, full)?.of ?? "wire"
    const request: LlmRequest = { header: full, messages, body: { bytes, sha256: "", of } }
    return { request, stream: stream(request) }
  })

const formatOf = (adapter: LlmAdapter, { wire }: EpochHeader) =>
  adapter.formats.find(({ format }) => format === wire.format)

/** The body, by the format that the header names. */
export const render = (
  adapter: LlmAdapter,
  header: EpochHeader,
  messages: ReadonlyArray<Message.Message>
): Uint8Array => {
  const writer = formatOf(adapter, header)?.open(header)
  if (writer === undefined) return new Uint8Array()
  const fragments = [...writer.initial, ...messages.flatMap((message) => writer.message(message))]
  return new TextEncoder().encode(writer.prefix + fragments.join(",") + writer.suffix)
}

export interface Answer {
  readonly chunks: ReadonlyArray<StreamChunk>
  /** The failure of the stream, if it failed. */
  readonly error: LlmError | undefined
  readonly message: BlockAssembler.Assembled
}

/** Runs a stream to its end. Fails when it breaks the rules of chunks, or does not end. */
export const collect = (stream: Stream.Stream<StreamChunk, LlmError>): Effect.Effect<Answer, ContractViolation> =>
  Effect.gen(function* () {
    const chunks: Array<StreamChunk> = []
    const assembler = BlockAssembler.make()
    const result = yield* Stream.runForEach(stream, (chunk) =>
      Effect.sync(() => {
        chunks.push(chunk)
        assembler.push(chunk)
      })
    ).pipe(Effect.either, timely)
    const error = Either.isLeft(result) ? result.left : undefined
    const broken = brokenRule(chunks, error !== undefined)
    if (broken !== undefined) return yield* new ContractViolation({ message: broken })
    return { chunks, error, message: Either.getOrThrow(assembler.assemble()) }
  })

/** Fails when it takes for ever. */
export const timely = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | ContractViolation, R> =>
  Effect.timeoutFail(effect, {
    duration: deadline,
    onTimeout: () => new ContractViolation({ message: `still waiting after ${deadline}` })
  })

/** Asks a server that answers by `script`, as often as wanted. */
export const asking = (
  subject: Subject,
  script: Script.Script,
  question: Question = {}
): Effect.Effect<
  { readonly ask: Effect.Effect<Answer, Failure>; readonly server: MockLlm.MockLlm["Type"] },
  Failure,
  Scope.Scope
> =>
  Effect.gen(function* () {
    const server = yield* MockLlm.make({ script })
    const adapter = yield* subject.make({ url: server.url, apiKey, timeouts: question.timeouts ?? {} })
    return {
      ask: Effect.flatMap(prepare(adapter, subject.model, question), ({ stream }) => collect(stream)),
      server
    }
  })

export type Failure = ContractViolation | LlmError | MockLlm.MockLlmError

/** One question, one answer. */
export const ask = (subject: Subject, step: Script.Step, question?: Question): Effect.Effect<Answer, Failure> =>
  Effect.scoped(Effect.flatMap(asking(subject, Script.sequence([step]), question), (asked) => asked.ask))

/** How it ended, in one word: the code of the failure, or the kind of the finish. */
export const ending = ({ error, message: { finish } }: Answer): string =>
  error?.code ?? (finish.kind === "error" ? finish.failure.code : finish.kind)

/** The texts of one kind, joined. */
export const said = ({ message }: Answer, type: "text" | "reasoning" = "text"): string =>
  message.blocks.flatMap((block) => (block.type === type && "text" in block ? block.text : [])).join("")

/** Names and arguments of the calls, in order. */
export const called = ({ message }: Answer): ReadonlyArray<readonly [string, string]> =>
  message.blocks.flatMap((block) => (block.type === "tool-call" ? [[block.name, block.arguments] as const] : []))

/** All that an answer comes to, for comparing two of them. */
export const summary = (answer: Answer): unknown => [ending(answer), answer.message.blocks, answer.message.usage]
