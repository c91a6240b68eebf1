/**
 * How full the model's context is. What the provider reported for the last answer is taken as it is; only what came after it is
 * estimated, and by how far the estimate was off before. Without a report all of it is estimated.
 */
import type { ContentBlock } from "./Block.ts"
import type { Conversation, Report } from "./Conversation.ts"
import type { Message } from "./Message.ts"
import { sameTools } from "./Request.ts"
import type { EpochHeader } from "./Request.ts"
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
const ofMessage = (message: Message): number =>
  once(message, ({ content }) => content.reduce<number>((sum, block) => sum + ofBlock(block) + overhead, overhead))

const ofTools = (tools: NonNullable<EpochHeader["tools"]>): number =>
  once(tools, (all) => TokenEstimate.ofText(JSON.stringify(all)) + overhead)

const fixed = (header: EpochHeader | undefined): Omit<Breakdown, "messages"> => ({
  system: header?.system === undefined ? 0 : once(header, () => TokenEstimate.ofText(header.system ?? "") + overhead),
  tools: header?.tools === undefined ? 0 : ofTools(header.tools)
})

/** Estimates alone. */
export const breakdown = (conversation: Conversation): Breakdown => ({
  ...fixed(conversation.header),
  messages: sumsOf(conversation).at(-1) ?? 0
})

/** Beyond these an estimate was not wrong, but of something else. */
const [least, most] = [0.5, 2]

/** What the next request will be, as far as the log tells. */
export const measure = (conversation: Conversation): ContextSize => {
  const { context, generation, header, report } = conversation
  const { system, tools } = fixed(header)
  const sums = sumsOf(conversation)
  const all = sums[sums.length - 1] ?? 0
  const window = context?.contextWindow
  const sized = (total: number, reported: number): ContextSize => ({
    total,
    reported,
    window,
    pressure: window === undefined ? undefined : total / window
  })
  if (report === undefined || report.generation !== generation || !isAbout(report, header)) {
    return sized(Math.ceil(system + tools + all), 0)
  }
  const covered = sums[report.messages] ?? 0
  const factor = Math.min(most, Math.max(least, report.tokens / Math.max(1, system + tools + covered)))
  return sized(report.tokens + Math.ceil((all - covered) * factor), report.tokens)
}

/** Whether a count still holds: other limits of the answer leave the request as long as it was. */
const isAbout = ({ header: counted }: Report, header: EpochHeader | undefined): boolean =>
  counted === header ||
  (counted !== undefined &&
    header !== undefined &&
    counted.config.provider === header.config.provider &&
    counted.config.model === header.config.model &&
    counted.system === header.system &&
    sameTools(counted.tools, header.tools))

interface Sums {
  readonly generation: number
  /** At `n`: the estimate of the first `n` messages. */
  readonly tokens: Array<number>
}

const sums = new WeakMap<Conversation, Sums>()

/** Kept, because a conversation is measured at every step and hardly ever changes but at its end. */
const sumsOf = (conversation: Conversation): ReadonlyArray<number> => {
  const { generation, messages } = conversation
  let known = sums.get(conversation)
  if (known?.generation !== generation) sums.set(conversation, (known = { generation, tokens: [0] }))
  const { tokens } = known
  for (let n = tokens.length; n <= messages.length; n++) {
    const message = messages[n - 1]
    if (message !== undefined) tokens.push((tokens[n - 1] ?? 0) + ofMessage(message))
  }
  return tokens
}
