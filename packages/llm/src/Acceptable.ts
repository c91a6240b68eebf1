/**
 * What a history holds, in a form that every provider accepts.
 *
 * History is durable, so a message that a provider refuses would make its session unusable for ever. Whatever a model, an
 * interruption or an older version left in the log is therefore sent as something that anybody takes.
 */
import * as Text from "@dsh/kernel/Text"
import type { ContentBlock, ImageBlock } from "@dsh/protocol/Block"
import { isRecord } from "./Lenient.ts"

/** What a tool result without text says: blank content is refused. */
export const noOutput = "(no output)"

/** A model can call a name that no tool may have; the call is answered with an error, and both stay in the history. */
export const functionName = (name: string): string =>
  name === "" ? "unnamed" : name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64)

/** Verbatim when it is what providers accept. Arguments that were cut or garbled are kept in a form that parses. */
export const callArguments = (raw: string): string => {
  if (raw.trim() === "") return "{}"
  try {
    if (isRecord(JSON.parse(raw))) return raw
  } catch {
    // falls through to the wrapped form
  }
  return JSON.stringify({ unparsed_arguments: Text.wellFormed(raw) })
}

/** The texts, and what stands for an image. */
export const textOf = (content: ReadonlyArray<ContentBlock>): string => {
  let text = ""
  for (const block of content) {
    if (block.type === "text") text += block.text
    else if (block.type === "image") text += placeholder(block)
  }
  return text
}

const placeholder = (block: ImageBlock): string => `[image ${block.attachment.id}: ${describe(block)}; not shown]`

/** What kind of image it is, and how large. */
export const describe = ({ attachment: { height, mediaType, width } }: ImageBlock): string =>
  width === undefined || height === undefined ? mediaType : `${mediaType}, ${width}x${height}`
