/**
 * Content blocks: what messages are made of.
 */
import type { CallId } from "./Ids.ts"

export interface TextBlock {
  readonly type: "text"
  readonly text: string
}

export interface ReasoningBlock {
  readonly type: "reasoning"
  readonly text: string
}

/** Reference to stored image bytes; the bytes themselves never enter the log. */
export interface AttachmentRef {
  readonly id: string
  readonly mediaType: string
  readonly bytes: number
  readonly width?: number
  readonly height?: number
}

export interface ImageBlock {
  readonly type: "image"
  readonly attachment: AttachmentRef
}

export interface ToolCallBlock {
  readonly type: "tool-call"
  readonly id: CallId
  readonly name: string
  /** JSON text exactly as the model wrote it; only the tool scheduler parses it. */
  readonly arguments: string
}

export interface ToolResultBlock {
  readonly type: "tool-result"
  readonly toolCallId: CallId
  readonly content: ReadonlyArray<ContentBlock>
  readonly isError?: boolean
}

/** Open by interface merging: a plugin adds a block type by declaring it here. */
export interface BlockTypes {
  readonly text: TextBlock
  readonly reasoning: ReasoningBlock
  readonly image: ImageBlock
  readonly "tool-call": ToolCallBlock
  readonly "tool-result": ToolResultBlock
}

export type ContentBlock = BlockTypes[keyof BlockTypes]

export const text = (value: string): TextBlock => ({ type: "text", text: value })

/** The texts of `content`, joined without a separator. */
export const textOf = (content: ReadonlyArray<ContentBlock>): string => {
  let out = ""
  for (const block of content) if (block.type === "text") out += block.text
  return out
}
