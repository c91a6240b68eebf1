/**
 * How full the model's context is. What the provider reported for the last answer is taken as it is; only what came after it is
 * estimated, and by how far the estimate was off before. Without a report all of it is estimated.
 */
import type { ContentBlock } from "./Block.ts"
import type { Conversation } from "./Conversation.ts"
import type { Message } from "./Message.ts"
import type { EpochHeader } from "./Request.ts"
import { messageOf } from "./SessionEvent.ts"
import type { SessionEvent } from "./SessionEvent.ts"
import * as TokenEstimate from "./TokenEstimate.ts"

/** In tokens. */
export interface ContextSize {
  readonly total: number
  /** Part of `total` that a provider has counted; 0 when nobody has. */
  readonly reported: number
  /** What the model can take, if that is known. */
  readonly window: number | undefined
  /** `total` as a share of `window`. */
  readonly pressure: number | undefined
}

/** How much of the next request is what. */
export interface Breakdown {
  readonly system: number
  readonly tools: number
  readonly messages: number
}

/** What a block and a message cost beyond their text. */
const overhead = 4
/** An image whose size is not known. */
const image = 1000
const pixelsPerToken = 750

const ofBlock = (block: ContentBlock): number => {
  switch (block.type) {
    case "text":
    case "reasoning":
      return TokenEstimate.ofText(block.text)
    case "tool-call":
      return TokenEstimate.ofText(block.name) + TokenEstimate.ofText(block.arguments)
    case "tool-result":
      return block.content.reduce((sum, inner) => sum + ofBlock(inner), 0)
    case "image": {
      const { height, width } = block.attachment
      return width === undefined || height === undefined ? image : Math.ceil((width * height) / pixelsPerToken)
    }
    default:
      return TokenEstimate.ofText(JSON.stringify(block))
  }
}

// Messages and headers never change, and they are asked about at every step.
const known = new WeakMap<object, number>()

const once = <A extends object>(thing: A, estimate: (thing: A) => number): number => {
  let tokens = known.get(thing)
  if (tokens === undefined) known.set(thing, (tokens = estimate(thing)))
  return tokens
}

/** The estimate for one message. */
export const ofMessage = (message: Message): number =>
  once(message, ({ content }) => content.reduce<number>((sum, block) => sum + ofBlock(block) + overhead, overhead))

const ofTools = (tools: NonNullable<EpochHeader["tools"]>): number =>
  once(tools, (all) => TokenEstimate.ofText(JSON.stringify(all)) + overhead)

/** Estimates alone. */
export const breakdown = ({ header, messages }: Conversation): Breakdown => ({
  system: header?.system === undefined ? 0 : once(header, () => TokenEstimate.ofText(header.system ?? "") + overhead),
  tools: header?.tools === undefined ? 0 : ofTools(header.tools),
  messages: messages.reduce((sum, message) => sum + ofMessage(message), 0)
})

interface Report {
  readonly header: EpochHeader | undefined
  readonly generation: number
  /** Messages it covers, the answer included. */
  readonly messages: number
  readonly tokens: number
  /** What would have been estimated. */
  readonly estimated: number
}

/** Beyond these an estimate was not wrong, but of something else. */
const [least, most] = [0.5, 2]

/** Follows one log. */
export class Meter {
  #report: Report | undefined

  /** To be called after the conversation has taken in the event. */
  take(event: SessionEvent, conversation: Conversation): void {
    if (event.type !== "assistant/message" || event.surfaceOp !== "append") return
    const { usage } = event.data
    if (usage === undefined) return
    const { cacheReadTokens = 0, cacheWriteTokens = 0, inputTokens, outputTokens } = usage
    const { generation, header, messages } = conversation
    const tokens = inputTokens + cacheReadTokens + cacheWriteTokens + outputTokens
    // An answer without a message has been paid for and is not sent again.
    const covered = messageOf(event) === undefined ? tokens - outputTokens : tokens
    this.#report = { header, generation, messages: messages.length, tokens: covered, estimated: estimate(conversation) }
  }

  measure(conversation: Conversation): ContextSize {
    const report = this.#report
    const factor =
      report === undefined ? 1 : Math.min(most, Math.max(least, report.tokens / Math.max(1, report.estimated)))
    const window = conversation.context?.contextWindow
    const sized = (total: number, reported: number): ContextSize => ({
      total,
      reported,
      window,
      pressure: window === undefined ? undefined : total / window
    })
    const { generation, header, messages } = conversation
    if (report === undefined || report.header !== header || report.generation !== generation) {
      return sized(Math.ceil(estimate(conversation) * factor), 0)
    }
    let added = 0
    for (let i = report.messages; i < messages.length; i++) added += ofMessage(messages[i]!)
    return sized(report.tokens + Math.ceil(added * factor), report.tokens)
  }
}

const estimate = (conversation: Conversation): number => {
  const { messages, system, tools } = breakdown(conversation)
  return messages + system + tools
}
