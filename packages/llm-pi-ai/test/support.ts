// The adapter over a mock provider, and one request to it.
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as LlmPiAi from "@dsh/llm-pi-ai/LlmPiAi"
import type { Api, Options } from "@dsh/llm-pi-ai/LlmPiAi"
import type { LlmAdapter, Purpose } from "@dsh/llm/LlmAdapter"
import type { LlmError } from "@dsh/llm/LlmError"
import * as BlockAssembler from "@dsh/protocol/BlockAssembler"
import { CallId, MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { EpochHeader, LlmCallConfig } from "@dsh/protocol/Request"
import * as MockLlm from "@dsh/testing/MockLlm"
import type * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { HttpClient } from "@effect/platform"
import { Effect, Either, Redacted, Stream } from "effect"

export const apis: ReadonlyArray<Api> = ["openai-completions", "openai-responses", "anthropic-messages"]

export const user = (text: string) => Message.user(MessageId(`u-${text}`), text)

export const tools: NonNullable<EpochHeader["tools"]> = [
  {
    name: "read",
    description: "Reads.",
    parameters: {
      type: "object",
      properties: { path: { $ref: "#/$defs/path" } },
      required: ["path"],
      additionalProperties: false,
      $defs: { path: { type: "string" } }
    }
  }
]

export const adapter = (options: Omit<Options, "provider"> & { readonly provider?: string }) =>
  Effect.flatMap(HttpClientNode.make, (client) =>
    Effect.provideService(LlmPiAi.make({ provider: "pi", ...options }), HttpClient.HttpClient, client)
  )

/** A server that answers in order, and the adapter over it. */
export const world = (api: Api, replies: ReadonlyArray<Reply.Reply>, options: Partial<Omit<Options, "api">> = {}) =>
  Effect.gen(function* () {
    const server = yield* MockLlm.make({ script: Script.sequence(replies) })
    const apiKey = Effect.succeedSome(Redacted.make("sk-test-0123456789"))
    return { server, adapter: yield* adapter({ api, baseUrl: server.url, apiKey, ...options }) }
  })

export interface Question {
  readonly config?: Partial<LlmCallConfig>
  readonly header?: Pick<EpochHeader, "system" | "tools">
  readonly messages?: ReadonlyArray<Message.Message>
  readonly purpose?: Purpose
}

/** The message a request comes to, as the loop would log it. */
export const ask = (self: LlmAdapter, { config, header, messages = [user("hi")], purpose = "agent" }: Question = {}) =>
  Effect.gen(function* () {
    const call = yield* self.prepare({ provider: "pi", model: "m", ...config }, purpose)
    const full: EpochHeader = { config: call.config, wire: call.wire, ...header }
    const assembler = BlockAssembler.make()
    const stream = call.stream({
      header: JSON.parse(JSON.stringify(full)) as EpochHeader,
      messages,
      body: { bytes: new Uint8Array(), sha256: "", of: "neutral" }
    })
    yield* Stream.runForEach(stream, (chunk) => Effect.sync(() => assembler.push(chunk)))
    const { blocks, finish, replayState, usage } = Either.getOrThrow(assembler.assemble())
    const { model, provider } = call.config
    const message: Message.AssistantMessage = {
      id: MessageId("a"),
      role: "assistant",
      content: blocks,
      source: { kind: "model", provider, model, ...(replayState !== undefined && { replayState }) }
    }
    return { finish, message, usage }
  })

/** The results of all calls of a message. */
export const results = ({ content }: Message.AssistantMessage) =>
  content.flatMap((block) =>
    block.type === "tool-call"
      ? [Message.toolResult(MessageId("t"), CallId(block.id), [{ type: "text", text: "ok" }], false)]
      : []
  )

/** The code an effect fails with. */
export const codeOf = <A, R>(effect: Effect.Effect<A, LlmError, R>) =>
  Effect.map(Effect.flip(effect), ({ code }) => code)
