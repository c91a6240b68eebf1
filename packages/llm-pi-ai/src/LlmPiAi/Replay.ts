/**
 * What a provider wants back with its own answers: signatures of reasoning, ids of items. It is kept beside the message, as a list of
 * the parts pi-ai saw in their order, and each part as a length into the text of the message rather than as text of its own.
 *
 * A message is only ever taken apart by a list that fits it exactly. Any other is sent without what cannot be vouched for.
 */
import type { Json } from "@dsh/kernel/Json"
import type { ContentBlock, ToolCallBlock } from "@dsh/protocol/Block"
import type { ReplayEnvelope } from "@dsh/protocol/StreamChunk"
import type { AssistantMessage } from "@earendil-works/pi-ai"
import { isRecord, text } from "@dsh/llm/Lenient"
import type { Api } from "./Profile.ts"

type Native = AssistantMessage["content"][number]

/** A part of an answer as it was streamed. */
export interface Streamed {
  readonly native: Native
  /** Characters of it that entered the message. */
  readonly length: number
}

/** A part of a message, with what belongs to it. */
export type Part =
  | { readonly type: "text"; readonly text: string; readonly signature: string | undefined }
  | {
      readonly type: "reasoning"
      readonly text: string
      readonly signature: string | undefined
      readonly isRedacted: boolean
    }
  | {
      readonly type: "call"
      readonly block: ToolCallBlock
      readonly item: string | undefined
      readonly signature: string | undefined
    }

/** Nothing when there is nothing to keep, or when the blocks are not what was streamed. */
export const write = (
  api: Api,
  streamed: ReadonlyArray<Streamed>,
  blocks: ReadonlyArray<ContentBlock>
): ReplayEnvelope | undefined => {
  // A thought that cannot be sent back must not be missed: what refers to it is not sent, either.
  if (!streamed.every(({ native }) => native.type !== "thinking" || isSealed(api, native.thinkingSignature)))
    return undefined
  const parts = streamed.map(entryOf)
  if (!parts.some((part) => "signature" in part || "item" in part)) return undefined
  const response = { api, parts }
  return read(api, { response }, blocks) === undefined ? undefined : { response }
}

/** Of a thought that OpenAI is not asked to remember, it knows nothing but what comes back encrypted. */
const isSealed = (api: Api, signature: string | undefined): boolean =>
  signature !== undefined &&
  signature !== "" &&
  (api !== "openai-responses" || /"encrypted_content":"[^"]/.test(signature))

const entryOf = ({ length, native }: Streamed): { readonly [key: string]: Json } => {
  switch (native.type) {
    case "text":
      return { type: "text", length, ...signed(native.textSignature) }
    case "thinking":
      return {
        type: "reasoning",
        length,
        ...signed(native.thinkingSignature),
        ...(native.redacted === true && { redacted: true })
      }
    case "toolCall": {
      const item = text(native.id.split("|")[1])
      return { type: "call", ...(item !== undefined && { item }), ...signed(native.thoughtSignature) }
    }
  }
}

const signed = (signature: string | undefined) => (text(signature) === undefined ? {} : { signature: signature! })

/** The parts of a message that came from this API; nothing when the state does not fit it. */
export const read = (
  api: Api,
  state: ReplayEnvelope | undefined,
  blocks: ReadonlyArray<ContentBlock>
): ReadonlyArray<Part> | undefined => {
  const response: unknown = state?.response
  if (!isRecord(response) || response.api !== api || !Array.isArray(response.parts)) return undefined
  const rest = { text: joined(blocks, "text"), reasoning: joined(blocks, "reasoning") }
  const calls = blocks.filter((block): block is ToolCallBlock => block.type === "tool-call")
  const parts: Array<Part> = []
  let called = 0
  for (const entry of response.parts as ReadonlyArray<unknown>) {
    if (!isRecord(entry)) return undefined
    const signature = text(entry.signature)
    if (entry.type === "call") {
      const block = calls[called++]
      if (block === undefined) return undefined
      parts.push({ type: "call", block, item: text(entry.item), signature })
      continue
    }
    const { length, type } = entry
    if ((type !== "text" && type !== "reasoning") || typeof length !== "number" || length > rest[type].length)
      return undefined
    const piece = rest[type].slice(0, length)
    rest[type] = rest[type].slice(length)
    parts.push(
      type === "text"
        ? { type, text: piece, signature }
        : { type, text: piece, signature, isRedacted: entry.redacted === true }
    )
  }
  return called === calls.length && rest.text === "" && rest.reasoning === "" ? parts : undefined
}

const joined = (blocks: ReadonlyArray<ContentBlock>, type: "text" | "reasoning"): string =>
  blocks.map((block) => (block.type === type && "text" in block ? block.text : "")).join("")
