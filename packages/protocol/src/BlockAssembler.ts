/**
 * Folds stream chunks into content blocks. The loop, replays and tests all use this one fold; it runs once per token, so it is
 * plain mutable code behind a small interface.
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import type { ContentBlock } from "./Block.ts"
import { CallId } from "./Ids.ts"
import type { FinishReason, ReplayEnvelope, StreamChunk, TokenUsage } from "./StreamChunk.ts"

/** A block was opened with a type the assembler does not know and never closed. */
export class UnfinishedBlock extends Data.TaggedError("UnfinishedBlock")<{
  readonly index: number
  readonly blockType: string
}> {
  readonly code = "MALFORMED_RESPONSE"
  override get message(): string {
    return `the model left block ${this.index} of type "${this.blockType}" open; retry the request`
  }
}

export interface Assembled {
  readonly blocks: ReadonlyArray<ContentBlock>
  readonly finish: FinishReason
  readonly usage: TokenUsage | undefined
  readonly replayState: ReplayEnvelope | undefined
}

export interface BlockAssembler {
  readonly push: (chunk: StreamChunk) => void
  /** The terminal reason, once it was seen. */
  readonly finish: () => FinishReason | undefined
  readonly usage: () => TokenUsage | undefined
  /** The finished message. A missing finish counts as `stop`; after `max-tokens` every tool call is dropped, for it may be cut. */
  readonly assemble: () => Either.Either<Assembled, UnfinishedBlock>
  /** What survives a cancelled stream: text and reasoning that is not blank, no tool calls. */
  readonly interrupted: () => ReadonlyArray<ContentBlock>
}

interface Partial {
  readonly index: number
  readonly type: string
  text: string
  id: string
  name: string
  closed: ContentBlock | undefined
}

export const make = (): BlockAssembler => {
  // Output order is the order in which an index was first seen, which is a Map's insertion order.
  const partials = new Map<number, Partial>()
  let finish: FinishReason | undefined
  let replayState: ReplayEnvelope | undefined
  let usage: TokenUsage | undefined

  const open = (index: number, type: string): Partial => {
    let partial = partials.get(index)
    if (partial === undefined) {
      partial = { index, type, text: "", id: "", name: "", closed: undefined }
      partials.set(index, partial)
    }
    return partial
  }

  const push = (chunk: StreamChunk): void => {
    switch (chunk.type) {
      case "text-delta":
      case "reasoning-delta": {
        const partial = open(chunk.index, chunk.type === "text-delta" ? "text" : "reasoning")
        if (partial.closed === undefined) partial.text += chunk.text
        break
      }
      case "tool-call-delta": {
        const partial = open(chunk.index, "tool-call")
        if (partial.closed !== undefined) break
        if (chunk.id !== "") partial.id = chunk.id
        if (chunk.name !== undefined && chunk.name !== "") partial.name = chunk.name
        partial.text += chunk.argumentsDelta
        break
      }
      case "block-start":
        open(chunk.index, chunk.blockType)
        break
      case "block-end":
        open(chunk.index, chunk.block.type).closed ??= chunk.block
        break
      case "usage":
        usage = chunk.usage
        break
      case "finish":
        finish ??= chunk.reason
        replayState ??= chunk.replayState
    }
  }

  const assemble = (): Either.Either<Assembled, UnfinishedBlock> => {
    const reason = finish ?? { kind: "stop" as const }
    const blocks: Array<ContentBlock> = []
    const kept: Array<number> = []
    let position = 0
    for (const partial of partials.values()) {
      const block = partial.closed ?? complete(partial)
      if (block === undefined) {
        return Either.left(new UnfinishedBlock({ index: partial.index, blockType: partial.type }))
      }
      if (reason.kind !== "max-tokens" || block.type !== "tool-call") {
        blocks.push(block)
        kept.push(position)
      }
      position++
    }
    return Either.right({ blocks, finish: reason, usage, replayState: prune(replayState, position, kept) })
  }

  return {
    push,
    finish: () => finish,
    usage: () => usage,
    assemble,
    interrupted: () =>
      Array.from(partials.values(), (partial) => partial.closed ?? complete(partial)).filter(
        (block): block is ContentBlock =>
          block !== undefined && (block.type === "text" || block.type === "reasoning") && block.text.trim() !== ""
      )
  }
}

const complete = (partial: Partial): ContentBlock | undefined => {
  switch (partial.type) {
    case "text":
    case "reasoning":
      return { type: partial.type, text: partial.text }
    case "tool-call":
      return {
        type: "tool-call",
        id: CallId(partial.id === "" ? `call-${partial.index}` : partial.id),
        name: partial.name,
        arguments: partial.text
      }
    default:
      return undefined
  }
}

// The envelope is aligned with the blocks: one keep/drop decision for both, and none of it when they do not match.
const prune = (
  envelope: ReplayEnvelope | undefined,
  emitted: number,
  kept: ReadonlyArray<number>
): ReplayEnvelope | undefined => {
  if (envelope?.blocks === undefined) return envelope
  const { blocks } = envelope
  if (blocks.length !== emitted) return undefined
  return { ...envelope, blocks: kept.map((position) => blocks[position] ?? null) }
}
