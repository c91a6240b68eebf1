/**
 * Messages and where they come from. A message is immutable; its `source` is provenance and never changes what the model sees.
 */
import type { Json } from "@dsh/kernel/Json"
import type { ContentBlock, ToolResultBlock } from "./Block.ts"
import { text } from "./Block.ts"
import type { CallId, MessageId } from "./Ids.ts"
import type { ReplayEnvelope } from "./StreamChunk.ts"

/** Open by interface merging: key = `kind`, value = the other fields. */
export interface MessageSources {
  /** Direct human input. */
  readonly user: {}
  /** Added by an extension. `form` is for people's eyes only. */
  readonly plugin: {
    readonly plugin: string
    readonly form?: "instructions" | "catalog" | "snapshot" | "notice" | "relay" | "recall"
    /** Form `notice`: at most 120 characters. */
    readonly summary?: string
    /** Form `snapshot`: the parts the text was made of. */
    readonly sections?: ReadonlyArray<{ readonly name: string; readonly text: string }>
  }
  readonly model: { readonly provider: string; readonly model: string; readonly replayState?: ReplayEnvelope }
  readonly tool: { readonly callId: CallId }
}

export type SourceOf<Kind extends keyof MessageSources> = { readonly kind: Kind } & MessageSources[Kind]
export type MessageSource = { [Kind in keyof MessageSources]: SourceOf<Kind> }[keyof MessageSources]

export interface UserMessage {
  readonly id: MessageId
  readonly role: "user"
  readonly content: ReadonlyArray<ContentBlock>
  readonly source: Exclude<MessageSource, { readonly kind: "model" | "tool" }>
}

export interface AssistantMessage {
  readonly id: MessageId
  readonly role: "assistant"
  readonly content: ReadonlyArray<ContentBlock>
  readonly source: SourceOf<"model">
}

/** Exactly one `tool-result` block, whose `toolCallId` equals `source.callId`. */
export interface ToolResultMessage {
  readonly id: MessageId
  readonly role: "user"
  readonly content: readonly [ToolResultBlock]
  readonly source: SourceOf<"tool">
}

export type Message = UserMessage | AssistantMessage | ToolResultMessage

export const isToolResult = (message: Message): message is ToolResultMessage => message.source.kind === "tool"

export const user = (id: MessageId, content: string | ReadonlyArray<ContentBlock>): UserMessage => ({
  id,
  role: "user",
  content: typeof content === "string" ? [text(content)] : content,
  source: { kind: "user" }
})

export const fromPlugin = (
  id: MessageId,
  content: string | ReadonlyArray<ContentBlock>,
  source: Omit<SourceOf<"plugin">, "kind">
): UserMessage => ({
  id,
  role: "user",
  content: typeof content === "string" ? [text(content)] : content,
  source: { kind: "plugin", ...source }
})

export const toolResult = (
  id: MessageId,
  callId: CallId,
  content: ReadonlyArray<ContentBlock>,
  isError: boolean
): ToolResultMessage => ({
  id,
  role: "user",
  content: [{ type: "tool-result", toolCallId: callId, content, ...(isError && { isError }) }],
  source: { kind: "tool", callId }
})

/** A structured failure of a tool, as the log keeps it. */
export interface ToolErrorInfo {
  readonly name: string
  readonly code: string
}

/** A tool's own replayable presentation payload. */
export type ToolMeta = Json
