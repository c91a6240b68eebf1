/**
 * The parts of a library's answer as pieces of ours.
 */
import type { AnswerWriter } from "@dsh/llm/AnswerWriter"
import type { Json } from "@dsh/kernel/Json"
import type { TokenUsage } from "@dsh/protocol/StreamChunk"
import type * as Response from "@effect/ai/Response"
import type * as Tool from "@effect/ai/Tool"
import type { Options, Streamed } from "./Replay.ts"
import { isRecord } from "@dsh/llm/Lenient"

export type Part = Response.StreamPart<Record<string, Tool.Any>>

/** The names of the library for reasons that have another one everywhere else. */
const reasons: Readonly<Record<string, string>> = {
  "content-filter": "content_filter",
  pause: "pause_turn",
  "tool-calls": "tool_calls"
}

interface Call {
  readonly index: number
  hasArguments: boolean
}

export class Pieces {
  /** All parts so far, in the order they began. */
  readonly streamed: Array<Streamed> = []
  /** Why the answer ended, if the library said that it did. */
  finish: string | undefined
  usage: TokenUsage | undefined
  /** What the library reported instead of failing. */
  error: unknown
  readonly #writer: AnswerWriter
  readonly #prose = new Map<string, Streamed>()
  readonly #calls = new Map<string, Call>()
  #count = 0

  constructor(writer: AnswerWriter) {
    this.#writer = writer
  }

  take(part: Part): void {
    switch (part.type) {
      case "text-start":
      case "text-end":
        return this.#learn("text", part)
      case "text-delta":
        this.#writer.text(part.delta)
        return this.#learn("text", part, part.delta.length)
      case "reasoning-start":
      case "reasoning-end":
        return this.#learn("reasoning", part)
      case "reasoning-delta":
        this.#writer.reasoning(part.delta)
        return this.#learn("reasoning", part, part.delta.length)
      case "tool-params-start":
        if (!part.providerExecuted) this.#open(part.id, part.name)
        return
      case "tool-params-delta":
        return this.#grow(part.id, part.delta)
      case "tool-call":
        return this.#whole(part)
      case "finish":
        this.finish = reasons[part.reason] ?? part.reason
        this.usage = usageOf(part.usage)
        return
      case "error":
        this.error ??= part.error
        return
      default:
        return
    }
  }

  #learn(
    type: "text" | "reasoning",
    { id, metadata }: { readonly id: string; readonly metadata: unknown },
    length = 0
  ): void {
    const key = `${type} ${id}`
    let streamed = this.#prose.get(key)
    if (streamed === undefined) {
      streamed = { type, length: 0, options: {} }
      this.#prose.set(key, streamed)
      this.streamed.push(streamed)
    }
    streamed.length += length
    if (isRecord(metadata)) streamed.options = merged(streamed.options, metadata)
  }

  #open(id: string, name: string): Call {
    const call = { index: this.#count++, hasArguments: false }
    // An id that is used twice, or empty, names nothing.
    const isNew = id !== "" && !this.#calls.has(id)
    this.#calls.set(id, call)
    this.streamed.push({ type: "call", length: 0, options: {} })
    this.#writer.toolCall({ index: call.index, ...(isNew && { id }), function: { name, arguments: "" } })
    return call
  }

  #grow(id: string, fragment: string): void {
    const call = this.#calls.get(id)
    if (call === undefined) return
    call.hasArguments = true
    this.#writer.toolCall({ index: call.index, function: { arguments: fragment } })
  }

  // Libraries that do not stream arguments have them parsed only.
  #whole({ id, name, params, providerExecuted }: Extract<Part, { readonly type: "tool-call" }>): void {
    if (providerExecuted) return
    const call = this.#calls.get(id) ?? this.#open(id, name)
    if (!call.hasArguments) this.#grow(id, JSON.stringify(params))
  }
}

const merged = (known: Options, metadata: { readonly [provider: string]: unknown }): Options => {
  const out: Record<string, { readonly [key: string]: Json }> = { ...known }
  for (const [provider, said] of Object.entries(metadata)) {
    if (!isRecord(said)) continue
    const fields = JSON.parse(JSON.stringify(said)) as { readonly [key: string]: Json }
    if (Object.keys(fields).length > 0) out[provider] = { ...out[provider], ...fields }
  }
  return out
}

// Most providers count what came from their cache as input, too.
const usageOf = ({ cachedInputTokens, inputTokens, outputTokens, reasoningTokens }: Response.Usage) =>
  inputTokens === undefined && outputTokens === undefined
    ? undefined
    : {
        inputTokens: Math.max(0, (inputTokens ?? 0) - (cachedInputTokens ?? 0)),
        outputTokens: outputTokens ?? 0,
        ...(cachedInputTokens !== undefined && { cacheReadTokens: cachedInputTokens }),
        ...(reasoningTokens !== undefined && { reasoningTokens })
      }
