/**
 * The request as the library takes it.
 */
import * as Text from "@dsh/kernel/Text"
import * as Acceptable from "@dsh/llm/Acceptable"
import type { ContentBlock, ToolCallBlock, ToolResultBlock } from "@dsh/protocol/Block"
import type { AssistantMessage, Message } from "@dsh/protocol/Message"
import type { EpochHeader } from "@dsh/protocol/Request"
import * as Prompt from "@effect/ai/Prompt"
import { createHash } from "node:crypto"
import * as Replay from "./Replay.ts"

type Part = Prompt.AssistantMessagePart

/** What a user's message without a word says: providers refuse blank ones. */
const noText = "(no text)"

export interface Conversation {
  readonly prompt: Prompt.Prompt
  /** The arguments of the calls as they were written, by the id they are sent with. */
  readonly written: ReadonlyMap<string, string>
}

export const make = ({ config, system }: EpochHeader, messages: ReadonlyArray<Message>): Conversation => {
  const names = new Map<string, string>()
  const written = new Map<string, string>()

  const toolCall = (block: ToolCallBlock): Part => {
    const name = Acceptable.functionName(block.name)
    const id = wireId(block.id)
    const args = Text.wellFormed(Acceptable.callArguments(block.arguments))
    names.set(block.id, name)
    written.set(id, args)
    return Prompt.makePart("tool-call", {
      id,
      name,
      params: JSON.parse(args, wellFormed) as unknown,
      providerExecuted: false
    })
  }

  const plain = (block: ContentBlock): ReadonlyArray<Part> => {
    if (block.type === "tool-call") return [toolCall(block)]
    // Reasoning of another model is nothing that a model has said.
    const text = Text.wellFormed(Acceptable.textOf([block]))
    return text.trim() === "" ? [] : [Prompt.makePart("text", { text })]
  }

  const native = (part: Replay.Part): ReadonlyArray<Part> => {
    switch (part.type) {
      case "call":
        return [toolCall(part.block)]
      case "reasoning":
        return [Prompt.makePart("reasoning", { text: part.text, options: part.options })]
      case "text":
        return part.text.trim() === "" ? [] : [Prompt.makePart("text", { text: part.text, options: part.options })]
    }
  }

  const assistant = ({ content, source }: AssistantMessage): ReadonlyArray<Prompt.Message> => {
    const isOurs = source.provider === config.provider && source.model === config.model
    const parts = isOurs ? Replay.read(source.replayState, content) : undefined
    const all = parts === undefined ? content.flatMap(plain) : parts.flatMap(native)
    // Nothing but reasoning, or nothing at all: what an interruption leaves. There is no message to send.
    return all.every(({ type }) => type === "reasoning") ? [] : [Prompt.makeMessage("assistant", { content: all })]
  }

  const result = (block: ToolResultBlock): Prompt.Message => {
    const text = Text.wellFormed(Acceptable.textOf(block.content))
    const part = Prompt.makePart("tool-result", {
      id: wireId(block.toolCallId),
      name: names.get(block.toolCallId) ?? "unnamed",
      isFailure: block.isError === true,
      result: text.trim() === "" ? Acceptable.noOutput : text,
      providerExecuted: false
    })
    return Prompt.makeMessage("tool", { content: [part] })
  }

  const user = (content: ReadonlyArray<ContentBlock>): ReadonlyArray<Prompt.Message> => {
    const results = content.filter((block): block is ToolResultBlock => block.type === "tool-result")
    const rest = content.filter((block) => block.type !== "tool-result")
    const text = Text.wellFormed(Acceptable.textOf(rest))
    const said = Prompt.makePart("text", { text: text.trim() === "" ? noText : text })
    // Results first: they must directly follow the calls they answer.
    return [
      ...results.map(result),
      ...(rest.length > 0 || results.length === 0 ? [Prompt.makeMessage("user", { content: [said] })] : [])
    ]
  }

  const prompt = Prompt.fromMessages([
    ...(system === undefined ? [] : [Prompt.makeMessage("system", { content: Text.wellFormed(system) })]),
    ...messages.flatMap((message) => (message.role === "assistant" ? assistant(message) : user(message.content)))
  ])
  return { prompt, written }
}

/** Ids of other providers can be longer than this one takes, or of another alphabet. */
const wireId = (id: string): string => {
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(id)) return id
  const digest = createHash("sha256").update(id).digest("hex").slice(0, 12)
  return `${id.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 40)}_${digest}`
}

const wellFormed = (_: string, field: unknown): unknown => (typeof field === "string" ? Text.wellFormed(field) : field)
