/**
 * Anthropic's Messages. The library gives up an answer over an event that it does not know or a field that does not fit, and over
 * arguments that are no JSON; so it is shown complete events, and never the end of a call.
 */
import { record } from "@dsh/llm/Lenient"
import type { Raw } from "@dsh/llm/Lenient"
import type { Wire } from "../Wire.ts"
import { index, records, text, unquoted } from "./Raw.ts"

/** The member of a delta that a kind of block grows by. */
const pieces: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  text: { text_delta: "text" },
  thinking: { thinking_delta: "thinking", signature_delta: "signature" },
  tool_use: { input_json_delta: "partial_json" }
}

interface Block {
  readonly type: string
  /** What a server that does not stream them said at once. */
  readonly input: Raw
  hasGrown: boolean
}

export const messages: Wire = {
  dialect: "messages",
  path: "/messages",

  body: (body) => ({
    ...body,
    messages: records(body.messages).map((message) => ({
      ...message,
      content: records(message.content).map((block) =>
        block.type === "tool_result" ? { ...block, content: unquoted(block.content) } : block
      )
    }))
  }),

  reader: () => {
    const blocks = new Map<number, Block>()
    return (event) => {
      const at = index(event.index)
      switch (event.type) {
        case "content_block_start":
          return started(record(event.content_block), at, blocks)
        case "content_block_delta":
          return grown(record(event.delta), at, blocks.get(at))
        case "content_block_stop":
          return stopped(at, blocks)
        default:
          return []
      }
    }
  }
}

const started = (block: Raw, at: number, blocks: Map<number, Block>): ReadonlyArray<Raw> => {
  const type = text(block.type)
  const shown = blockOf(block, type, at)
  if (shown === undefined) return []
  blocks.set(at, { type, input: record(block.input), hasGrown: false })
  return [
    { type: "content_block_start", index: at, content_block: shown },
    ...Object.entries(pieces[type] ?? {}).flatMap(([kind, member]) =>
      typeof block[member] === "string" && block[member] !== ""
        ? [delta(at, { type: kind, [member]: block[member] })]
        : []
    )
  ]
}

const blockOf = (block: Raw, type: string, at: number): Raw | undefined => {
  switch (type) {
    case "text":
      return { type, text: "" }
    case "thinking":
      return { type, thinking: "", signature: "" }
    case "redacted_thinking":
      return { type, data: text(block.data) }
    case "tool_use": {
      const id = text(block.id)
      return {
        type,
        id: /^[a-zA-Z0-9_-]+$/.test(id) ? id : `toolu_${at}`,
        name: text(block.name) || "unnamed",
        input: {}
      }
    }
    default:
      return undefined
  }
}

const grown = (fields: Raw, at: number, block: Block | undefined): ReadonlyArray<Raw> => {
  const type = text(fields.type)
  const member = block === undefined ? undefined : pieces[block.type]?.[type]
  if (block === undefined || member === undefined) return []
  block.hasGrown = true
  return [delta(at, { type, [member]: text(fields[member]) })]
}

const stopped = (at: number, blocks: Map<number, Block>): ReadonlyArray<Raw> => {
  const block = blocks.get(at)
  blocks.delete(at)
  if (block === undefined) return []
  if (block.type !== "tool_use") return [{ type: "content_block_stop", index: at }]
  const isWhole = block.hasGrown || Object.keys(block.input).length === 0
  return isWhole ? [] : [delta(at, { type: "input_json_delta", partial_json: JSON.stringify(block.input) })]
}

const delta = (at: number, fields: Raw): Raw => ({ type: "content_block_delta", index: at, delta: fields })
