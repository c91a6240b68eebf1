/**
 * The events of a chat-completions stream, turned into stream chunks. Lenient per field: a field that does not fit is dropped, never
 * the stream.
 *
 * Plain mutable code, because it runs once per token. `take` hands over what was decoded since the last call, so that the chunks of
 * one network read travel as one array.
 */
import type { ContentBlock } from "@dsh/protocol/Block"
import type { StreamChunk, TokenUsage } from "@dsh/protocol/StreamChunk"
import type { LlmError } from "../LlmError.ts"
import { Dsml } from "./Dsml.ts"
import * as Finish from "./Finish.ts"
import { isRecord, record, text } from "./Lenient.ts"
import type { Raw } from "./Lenient.ts"
import { Template } from "./Template.ts"
import type { Kind } from "./Template.ts"
import * as ToolCalls from "./ToolCalls.ts"
import type { Call } from "./ToolCalls.ts"
import * as Usage from "./Usage.ts"

/** What reading an answer has to know of the request. */
export interface Asked {
  /** Ids of tool calls that the session already uses. */
  readonly isTaken: (id: string) => boolean
  /** A new unique id. */
  readonly mint: () => string
  /** Names of the tools on offer. */
  readonly tools: ReadonlySet<string>
  /** Whether every line of a text stands in the conversation. */
  readonly isQuoted: (text: string) => boolean
}

export interface Options extends Asked {
  /** The failure behind an error that arrives as an event. */
  readonly failure: (error: unknown) => LlmError
  /** The failure of an event that cannot be read; `undefined` skips it. */
  readonly malformed: (data: string) => LlmError | undefined
}

interface Prose {
  readonly type: "text" | "reasoning"
  readonly index: number
  text: string
}

export class Decoder {
  /** `[DONE]` was seen; whatever follows is ignored. */
  done = false
  /** The last finish reason the provider named. */
  finish: string | undefined
  /** Why the stream cannot go on. */
  failure: LlmError | undefined
  /** Counts the deltas that carried content. */
  progress = 0

  readonly #options: Options
  readonly #router: ToolCalls.Router
  readonly #dsml: Dsml
  readonly #template = new Template()
  readonly #blocks: Array<Prose | Call> = []
  #out: Array<StreamChunk> = []
  #text: Prose | undefined
  #reasoning: Prose | undefined
  #usage: TokenUsage | undefined

  constructor(options: Options) {
    this.#options = options
    this.#dsml = new Dsml(options)
    this.#router = ToolCalls.make({ ...options, nextBlock: () => this.#blocks.length })
  }

  /** What was decoded since the last call. */
  take(): Array<StreamChunk> {
    const out = this.#out
    this.#out = []
    return out
  }

  /** Takes the data of one event. */
  push(data: string): void {
    if (this.done || this.failure !== undefined) return
    const piece = this.#template.read(data)
    if (piece !== undefined) return this.#template.kind === "content" ? this.#said(piece) : this.#thought(piece)
    const payload = data.trim()
    // Proxies have been seen to wrap their comments into events.
    if (payload === "" || payload.startsWith(":")) return
    if (payload === "[DONE]") {
      this.done = true
      return
    }
    const parsed = parse(payload)
    if (parsed !== undefined) return this.#event(parsed.value, data)
    this.#lines(payload)
  }

  /** Closes every block and reports usage and finish. Call once, when the answer is known to be complete. */
  complete(): void {
    this.done = true
    const isLeaking = this.#settle()
    for (const block of this.#blocks) {
      this.#out.push({ type: "block-end", index: "block" in block ? block.block : block.index, block: content(block) })
    }
    if (this.#usage !== undefined) this.#out.push({ type: "usage", usage: this.#usage })
    const says = { text: this.#text !== undefined, tools: this.#hasCalls, leak: isLeaking }
    this.#out.push({ type: "finish", reason: Finish.reason(this.finish, says) })
  }

  get #hasCalls(): boolean {
    return this.#blocks.some((block) => "block" in block)
  }

  /** Decides about markup that was held back; `true` when it is a leak. */
  #settle(): boolean {
    const ending = this.#dsml.end()
    switch (ending.kind) {
      case "text":
        this.#prose("text", ending.text)
        return false
      case "leak":
        return true
      case "calls":
        // The provider has told calls from text after all, so this is not one of them.
        if (this.#hasCalls) return true
        for (const call of ending.calls) this.#toolCall({ function: call })
        return false
    }
  }

  // A server that separates events by single line breaks makes one event of many.
  #lines(payload: string): void {
    const lines = payload.split("\n")
    if (lines.length > 1 && lines.every((line) => line === "[DONE]" || line === "" || parse(line) !== undefined)) {
      for (const line of lines) this.push(line)
      return
    }
    this.failure = this.#options.malformed(payload)
  }

  #event(value: unknown, data: string): void {
    if (!isRecord(value)) return
    const error = errorOf(value)
    if (error !== undefined) {
      this.failure = this.#options.failure(error)
      return
    }
    const usage = Usage.parse(value.usage)
    if (usage !== undefined) this.#usage = usage
    const choice = choiceOf(value.choices)
    if (choice === undefined) return
    const before = this.#out.length
    const delta = isRecord(choice.delta) ? choice.delta : choice.message
    if (isRecord(delta)) this.#delta(delta)
    const finish = text(choice.finish_reason)
    if (finish !== undefined) this.finish = finish
    if (usage === undefined && finish === undefined && this.#out.length === before + 1) {
      const kind = kindOf(this.#out[before], delta)
      if (kind !== undefined) this.#template.learn(data, kind)
    }
  }

  #delta(delta: Raw): void {
    const reasoning = text(delta.reasoning_content) ?? text(delta.reasoning)
    if (reasoning !== undefined) this.#thought(reasoning)
    const content = typeof delta.content === "string" ? delta.content : partsOf(delta.content)
    if (content !== "") this.#said(content)
    if (!Array.isArray(delta.tool_calls)) return
    for (const item of delta.tool_calls) this.#toolCall(item)
  }

  #thought(piece: string): void {
    if (piece === "") return
    this.progress++
    this.#prose("reasoning", piece)
  }

  /** A piece of the answer's text, of which only that is shown which is no markup. */
  #said(piece: string): void {
    if (piece === "") return
    this.progress++
    if (this.#dsml.isIdle && piece.indexOf("<") === -1) this.#prose("text", piece)
    else this.#prose("text", this.#dsml.push(piece, this.#text?.text ?? ""))
  }

  #prose(type: Prose["type"], piece: string): void {
    if (piece === "") return
    let block = type === "text" ? this.#text : this.#reasoning
    if (block === undefined) {
      block = { type, index: this.#blocks.length, text: "" }
      if (type === "text") this.#text = block
      else this.#reasoning = block
      this.#open(block, block.index, type)
    }
    block.text += piece
    this.#out.push({ type: type === "text" ? "text-delta" : "reasoning-delta", index: block.index, text: piece })
  }

  #toolCall(item: unknown): void {
    const routed = this.#router.route(item)
    if (routed === undefined) return
    const { call, fragment, isNew, name } = routed
    if (isNew) this.#open(call, call.block, "tool-call")
    this.progress++
    this.#out.push({
      type: "tool-call-delta",
      index: call.block,
      id: call.id,
      ...(name !== undefined && { name }),
      argumentsDelta: fragment
    })
  }

  #open(block: Prose | Call, index: number, blockType: ContentBlock["type"]): void {
    this.#blocks.push(block)
    this.#out.push({ type: "block-start", index, blockType })
  }
}

const parse = (payload: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(payload) }
  } catch {
    return undefined
  }
}

const content = (block: Prose | Call): ContentBlock =>
  "block" in block
    ? { type: "tool-call", id: block.id, name: block.name, arguments: block.arguments }
    : { type: block.type, text: block.text }

/** The error an event carries, in any of the places where providers put it. */
export const errorOf = (value: Raw): unknown => {
  if (isRecord(value.error) || text(value.error) !== undefined) return value.error
  return value.object === "error" || value.type === "error" ? value : undefined
}

// Only one choice is ever asked for; another one would be a second answer.
const choiceOf = (choices: unknown): Raw | undefined => {
  if (!Array.isArray(choices)) return undefined
  const [first]: ReadonlyArray<unknown> = choices
  if (choices.length === 1 && isRecord(first)) return first
  return choices.find((choice): choice is Raw => isRecord(choice) && (choice.index === 0 || choice.index === undefined))
}

const partsOf = (content: unknown): string =>
  Array.isArray(content)
    ? content.map((part: unknown) => (isRecord(part) && typeof part.text === "string" ? part.text : "")).join("")
    : ""

/** The field behind the only chunk of a delta. */
const kindOf = (chunk: StreamChunk | undefined, delta: unknown): Kind | undefined => {
  if (chunk?.type === "text-delta") return "content"
  if (chunk?.type !== "reasoning-delta") return undefined
  return text(record(delta).reasoning_content) === undefined ? "reasoning" : "reasoning_content"
}
