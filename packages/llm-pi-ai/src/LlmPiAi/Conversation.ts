/**
 * The request as pi-ai takes it. Reasoning of other models, which pi-ai would turn into text of the answer, is left out.
 */
import * as Text from "@dsh/kernel/Text"
import * as Acceptable from "@dsh/llm/Acceptable"
import { isSendable } from "@dsh/llm/ShownImages"
import type { ShownImages } from "@dsh/llm/ShownImages"
import type { ContentBlock, ToolCallBlock, ToolResultBlock } from "@dsh/protocol/Block"
import type { AssistantMessage as Answer, Message } from "@dsh/protocol/Message"
import type { EpochHeader } from "@dsh/protocol/Request"
import type { AssistantMessage, Context, ImageContent, Message as PiMessage, TextContent } from "@earendil-works/pi-ai"
import { createHash } from "node:crypto"
import type { Api } from "./Profile.ts"
import * as Replay from "./Replay.ts"

/** pi-ai guesses from the name of a provider, too; the address is what it is meant to guess from. */
export const provider = "dsh"

export interface Conversation {
  readonly context: Context
  /** The arguments of the calls, by the id they are sent with. */
  readonly written: ReadonlyMap<string, string>
}

interface Called {
  readonly id: string
  readonly name: string
}

export interface Options {
  readonly api: Api
  /** Images that are not among them are described in words. */
  readonly images: ShownImages
}

export const make = (header: EpochHeader, messages: ReadonlyArray<Message>, { api, images }: Options): Conversation => {
  const { config, system, tools } = header
  const written = new Map<string, string>()
  const called = new Map<string, Called>()

  const toolCall = (block: ToolCallBlock, item?: string, signature?: string): AssistantMessage["content"][number] => {
    const sent = wireId(block.id, api)
    const id = item === undefined ? sent : `${sent}|${item}`
    const name = Acceptable.functionName(block.name)
    const args = Acceptable.callArguments(block.arguments)
    written.set(sent, args)
    called.set(block.id, { id, name })
    return {
      type: "toolCall",
      id,
      name,
      arguments: JSON.parse(args) as Record<string, unknown>,
      ...(signature !== undefined && { thoughtSignature: signature })
    }
  }

  const native = (part: Replay.Part): AssistantMessage["content"][number] => {
    switch (part.type) {
      case "call":
        return toolCall(part.block, part.item, part.signature)
      case "text":
        return { type: "text", text: part.text, ...(part.signature !== undefined && { textSignature: part.signature }) }
      case "reasoning":
        return {
          type: "thinking",
          thinking: part.text,
          ...(part.signature !== undefined && { thinkingSignature: part.signature }),
          ...(part.isRedacted && { redacted: true })
        }
    }
  }

  const plain = (block: ContentBlock): AssistantMessage["content"] => {
    if (block.type === "tool-call") return [toolCall(block)]
    const text = Text.wellFormed(Acceptable.textOf([block]))
    return text === "" ? [] : [{ type: "text", text }]
  }

  const assistant = ({ content, source }: Answer): PiMessage => {
    const isOurs = source.provider === config.provider && source.model === config.model
    const parts = isOurs ? Replay.read(api, source.replayState, content) : undefined
    return {
      role: "assistant",
      api,
      provider: parts === undefined ? "another" : provider,
      model: config.model,
      content: parts === undefined ? content.flatMap(plain) : parts.map(native),
      usage: nothing,
      stopReason: "stop",
      timestamp: 0
    }
  }

  const parts = (content: ReadonlyArray<ContentBlock>): Array<TextContent | ImageContent> =>
    content.flatMap((block): ReadonlyArray<TextContent | ImageContent> => {
      const data = isSendable(block) ? images.get(block.attachment.id) : undefined
      if (block.type === "image" && data !== undefined) {
        return [{ type: "image", data, mimeType: block.attachment.mediaType }]
      }
      const text = Text.wellFormed(Acceptable.textOf([block]))
      return text === "" ? [] : [{ type: "text", text }]
    })

  const result = (block: ToolResultBlock): PiMessage => {
    const said = parts(block.content)
    const text = Text.wellFormed(Acceptable.textOf(block.content))
    const { id, name } = called.get(block.toolCallId) ?? { id: wireId(block.toolCallId, api), name: "unnamed" }
    return {
      role: "toolResult",
      toolCallId: id,
      toolName: name,
      content: said.some(isImage) ? said : [{ type: "text", text: text.trim() === "" ? Acceptable.noOutput : text }],
      isError: block.isError === true,
      timestamp: 0
    }
  }

  const user = (content: ReadonlyArray<ContentBlock>): ReadonlyArray<PiMessage> => {
    const results = content.filter((block): block is ToolResultBlock => block.type === "tool-result")
    const rest = content.filter((block) => block.type !== "tool-result")
    const own = parts(rest)
    const said = own.some(isImage) ? own : Text.wellFormed(Acceptable.textOf(rest))
    // Results first: they must directly follow the calls they answer.
    const after: ReadonlyArray<PiMessage> =
      rest.length > 0 || results.length === 0 ? [{ role: "user", content: said, timestamp: 0 }] : []
    return [...results.map(result), ...after]
  }

  return {
    context: {
      ...(system !== undefined && { systemPrompt: Text.wellFormed(system) }),
      messages: messages.flatMap((message) =>
        message.role === "assistant" ? [assistant(message)] : user(message.content)
      ),
      ...(tools !== undefined && {
        tools: tools.map(({ description, name, parameters }) => ({
          name,
          description: Text.wellFormed(description),
          parameters: wellFormed(parameters)
        }))
      })
    },
    written
  }
}

const isImage = (part: TextContent | ImageContent): boolean => part.type === "image"

const nothing: AssistantMessage["usage"] = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
}

/** Chat completions take any id, and some providers read their own; the others take a narrow alphabet. pi-ai cuts ids at a bar. */
const wireId = (id: string, api: Api): string => {
  const isTaken = api === "openai-completions" ? !id.includes("|") : /^[a-zA-Z0-9_-]{1,64}$/.test(id)
  if (isTaken) return id
  const digest = createHash("sha256").update(id).digest("hex").slice(0, 12)
  return `${id.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 40)}_${digest}`
}

/** Half a surrogate pair, anywhere in a schema, has no UTF-8 form. */
const wellFormed = <A extends object>(value: A): A =>
  JSON.parse(JSON.stringify(value), (_, field: unknown) =>
    typeof field === "string" ? Text.wellFormed(field) : field
  ) as A
