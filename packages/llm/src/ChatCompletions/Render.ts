/**
 * Messages as chat-completions JSON. Pure: the same header and messages give the same bytes.
 *
 * History is durable, so a message that a provider refuses would make its session unusable for ever. Whatever a model, an
 * interruption or an older version left in the log is therefore rendered as something every provider accepts.
 */
import * as Text from "@dsh/kernel/Text"
import type { ContentBlock, ImageBlock, ToolCallBlock, ToolResultBlock } from "@dsh/protocol/Block"
import type { Message } from "@dsh/protocol/Message"
import type { EpochHeader, RequestFormat, RequestWriter } from "@dsh/protocol/Request"
import * as Acceptable from "../Acceptable.ts"
import * as Images from "./Images.ts"
import * as Profile from "./Profile.ts"
import { isSendable } from "../ShownImages.ts"

const open = (header: EpochHeader): RequestWriter => {
  const profile = Profile.read(header.wire)
  const { system } = header
  const waiting = new ResultImages()
  return {
    prefix: `${stringify(parameters(header, profile)).slice(0, -1)},"messages":[`,
    initial:
      system === undefined || system === ""
        ? []
        : [stringify({ role: profile.systemRole ?? "system", content: system })],
    message: (message) => {
      if (message.role === "assistant") return [...waiting.take(), ...assistant(message.content, profile)]
      return user(message, profile, waiting)
    },
    get suffix() {
      return `${waiting
        .look()
        .map((fragment) => `,${fragment}`)
        .join("")}]}`
    }
  }
}

/** Registered under the name that headers use. */
export const format: RequestFormat = { format: Profile.format, of: "wire", open }

const parameters = ({ config, tools = [] }: EpochHeader, profile: Profile.Known): object => ({
  model: config.model,
  stream: true,
  ...(profile.streamUsage !== "omit" && { stream_options: { include_usage: true } }),
  ...(profile.thinking !== undefined && { thinking: { type: profile.thinking } }),
  ...(profile.reasoningEffort !== undefined && effort(profile.reasoningEffort, profile)),
  ...((tools.length > 0 || profile.emptyTools === "send") && {
    tools: tools.map(({ description, name, parameters: schema }) => ({
      type: "function",
      function: { name, description, parameters: schema }
    }))
  }),
  ...(config.temperature !== undefined && { temperature: config.temperature }),
  ...(config.maxTokens !== undefined && { [profile.maxTokensField ?? "max_tokens"]: config.maxTokens }),
  ...(config.stop !== undefined && config.stop.length > 0 && { stop: config.stop })
})

const effort = (value: string, { effortField }: Profile.Known): object =>
  effortField === "reasoning" ? { reasoning: { effort: value } } : { reasoning_effort: value }

const assistant = (content: ReadonlyArray<ContentBlock>, profile: Profile.Known): ReadonlyArray<string> => {
  const text = Acceptable.textOf(content)
  const calls = content.filter((block): block is ToolCallBlock => block.type === "tool-call")
  // Nothing but reasoning, or nothing at all: what an interruption leaves. There is no message to send.
  if (text === "" && calls.length === 0) return []
  const reasoning = reasoningOf(content, calls.length > 0, profile)
  return [
    stringify({
      role: "assistant",
      content: text === "" && profile.emptyContent === "null" ? null : text,
      ...(reasoning !== undefined && { [profile.reasoningField ?? "reasoning_content"]: reasoning }),
      ...(calls.length > 0 && { tool_calls: calls.map(toolCall) })
    })
  ]
}

// In thinking mode a tool turn without its reasoning is refused, also when the model had none or was another one.
const reasoningOf = (
  content: ReadonlyArray<ContentBlock>,
  hasCalls: boolean,
  profile: Profile.Known
): string | undefined => {
  if (profile.reasoning === "strip") return undefined
  let reasoning = ""
  for (const block of content) if (block.type === "reasoning") reasoning += block.text
  if (reasoning !== "") return reasoning
  return hasCalls && profile.thinking !== "disabled" ? "" : undefined
}

const toolCall = (block: ToolCallBlock) => ({
  id: block.id,
  type: "function",
  function: { name: Acceptable.functionName(block.name), arguments: Acceptable.callArguments(block.arguments) }
})

const user = (message: Message, profile: Profile.Known, waiting: ResultImages): ReadonlyArray<string> => {
  const content: ReadonlyArray<ContentBlock> = message.content
  const results = content.filter((block): block is ToolResultBlock => block.type === "tool-result")
  const rest = content.filter((block) => block.type !== "tool-result")
  const fragments = results.map((block) => toolResult(block, profile, waiting))
  // Results first: they must directly follow the calls they answer.
  if (rest.length > 0 || results.length === 0) {
    fragments.push(...waiting.take(), stringify({ role: "user", content: parts(rest, profile) }))
  }
  return fragments
}

/** Text alone is a string: that is what every server takes. */
const parts = (content: ReadonlyArray<ContentBlock>, { images }: Profile.Known) =>
  images === "send" && content.some(isSendable)
    ? content.flatMap((block): ReadonlyArray<object> => {
        if (isSendable(block)) return [Images.part(block.attachment)]
        const text = Acceptable.textOf([block])
        return text === "" ? [] : [{ type: "text", text }]
      })
    : Acceptable.textOf(content)

const toolResult = (block: ToolResultBlock, profile: Profile.Known, waiting: ResultImages): string => {
  const said = profile.images === "send" ? block.content.map((part) => waiting.put(part)) : block.content
  const text = Acceptable.textOf(said)
  const content = text.trim() === "" && profile.blankToolOutput !== "keep" ? Acceptable.noOutput : text
  return stringify({ role: "tool", tool_call_id: block.toolCallId, content })
}

/**
 * Images of tool results. Results are text, and nothing may stand between those of one answer, so their images follow all of them, in a
 * message of their own.
 */
class ResultImages {
  #images: Array<ImageBlock> = []

  /** What the result says in the place of `block`. */
  put(block: ContentBlock): ContentBlock {
    if (!isSendable(block)) return block
    this.#images.push(block)
    return {
      type: "text",
      text: `[image ${this.#images.length}: ${Acceptable.describe(block)}; shown after the results]`
    }
  }

  look(): ReadonlyArray<string> {
    if (this.#images.length === 0) return []
    const content = this.#images.flatMap(({ attachment }, i) => [
      { type: "text", text: `[image ${i + 1} of the results]` },
      Images.part(attachment)
    ])
    return [stringify({ role: "user", content })]
  }

  take(): ReadonlyArray<string> {
    const fragments = this.look()
    this.#images = []
    return fragments
  }
}

// Half a surrogate pair, which a cut string can end with, has no UTF-8 form.
const stringify = (value: object): string =>
  JSON.stringify(value, (_, field: unknown) => (typeof field === "string" ? Text.wellFormed(field) : field))
