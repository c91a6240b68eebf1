/**
 * What a provider wants back with its own answers: signatures of reasoning, ids of items. It is kept beside the message, as a list of
 * the parts the library saw in their order, and each part as a length into the text of the message rather than as text of its own.
 *
 * A message is only ever taken apart by a list that fits it exactly. Any other is sent without what cannot be vouched for.
 */
import type { Json } from "@dsh/kernel/Json"
import type { ContentBlock, ToolCallBlock } from "@dsh/protocol/Block"
import type { ReplayEnvelope } from "@dsh/protocol/StreamChunk"
import { isRecord } from "@dsh/llm/Lenient"
import { records } from "./Wire/Raw.ts"

/** What a provider says of a part, by provider. */
export type Options = { readonly [provider: string]: { readonly [key: string]: Json } }

/** A part of an answer as it was streamed. */
export interface Streamed {
  readonly type: "text" | "reasoning" | "call"
  /** Characters of it that entered the message. */
  length: number
  options: Options
}

/** A part of a message, with what belongs to it. */
export type Part =
  | { readonly type: "text" | "reasoning"; readonly text: string; readonly options: Options }
  | { readonly type: "call"; readonly block: ToolCallBlock }

/** Nothing when there is nothing to keep, or when the blocks are not what was streamed. */
export const write = (
  streamed: ReadonlyArray<Streamed>,
  blocks: ReadonlyArray<ContentBlock>
): ReplayEnvelope | undefined => {
  const kept = streamed.filter(({ length, options, type }) => type === "call" || length > 0 || isSaying(options))
  if (!kept.some(({ options }) => isSaying(options))) return undefined
  const parts = kept.map(({ length, options, type }) => ({
    type,
    ...(type !== "call" && { length }),
    ...(isSaying(options) && { options })
  }))
  const response = { parts }
  return read({ response }, blocks) === undefined ? undefined : { response }
}

const isSaying = (options: Options): boolean => Object.keys(options).length > 0

/** The parts of a message; nothing when the state does not fit it. */
export const read = (
  state: ReplayEnvelope | undefined,
  blocks: ReadonlyArray<ContentBlock>
): ReadonlyArray<Part> | undefined => {
  const response: unknown = state?.response
  if (!isRecord(response) || !Array.isArray(response.parts)) return undefined
  const rest = { text: joined(blocks, "text"), reasoning: joined(blocks, "reasoning") }
  const calls = blocks.filter((block) => block.type === "tool-call")
  const parts: Array<Part> = []
  let called = 0
  for (const { length, options, type } of records(response.parts)) {
    if (type === "call") {
      const block = calls[called++]
      if (block === undefined) return undefined
      parts.push({ type, block })
      continue
    }
    if ((type !== "text" && type !== "reasoning") || typeof length !== "number" || length > rest[type].length)
      return undefined
    parts.push({ type, text: rest[type].slice(0, length), options: isOptions(options) ? options : {} })
    rest[type] = rest[type].slice(length)
  }
  return called === calls.length && rest.text === "" && rest.reasoning === "" ? parts : undefined
}

const isOptions = (value: unknown): value is Options => isRecord(value) && Object.values(value).every(isRecord)

const joined = (blocks: ReadonlyArray<ContentBlock>, type: "text" | "reasoning"): string =>
  blocks.map((block) => (block.type === type ? block.text : "")).join("")
