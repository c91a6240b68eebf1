/**
 * Schemas of content blocks.
 */
import * as Schema from "effect/Schema"
import type * as Block from "../Block.ts"
import { Amount, CallId, extension, maybe, Name } from "./Values.ts"

export const TextBlock: Schema.Schema<Block.TextBlock> = Schema.Struct({
  type: Schema.Literal("text"),
  text: Schema.String
})

export const ReasoningBlock: Schema.Schema<Block.ReasoningBlock> = Schema.Struct({
  type: Schema.Literal("reasoning"),
  text: Schema.String
})

export const AttachmentRef: Schema.Schema<Block.AttachmentRef> = Schema.Struct({
  id: Name,
  mediaType: Schema.String,
  bytes: Amount,
  width: maybe(Amount),
  height: maybe(Amount)
})

export const ImageBlock: Schema.Schema<Block.ImageBlock> = Schema.Struct({
  type: Schema.Literal("image"),
  attachment: AttachmentRef
})

export const ToolCallBlock: Schema.Schema<Block.ToolCallBlock> = Schema.Struct({
  type: Schema.Literal("tool-call"),
  id: CallId,
  name: Schema.String,
  arguments: Schema.String.annotations({ description: "JSON text exactly as the model wrote it" })
})

export const ToolResultBlock: Schema.Schema<Block.ToolResultBlock> = Schema.Struct({
  type: Schema.Literal("tool-result"),
  toolCallId: CallId,
  content: Schema.Array(Schema.suspend(() => ContentBlock)),
  isError: maybe(Schema.Boolean)
})

type Core = Block.TextBlock | Block.ReasoningBlock | Block.ImageBlock | Block.ToolCallBlock | Block.ToolResultBlock

/** A block of an extension: only its `type` is known here. */
export const ExtensionBlock: Schema.Schema<Exclude<Block.ContentBlock, Core>> = extension("type", [
  "text",
  "reasoning",
  "image",
  "tool-call",
  "tool-result"
])

export const ContentBlock: Schema.Schema<Block.ContentBlock> = Schema.Union(
  TextBlock,
  ReasoningBlock,
  ImageBlock,
  ToolCallBlock,
  ToolResultBlock,
  ExtensionBlock
).annotations({ identifier: "ContentBlock" })
