/**
 * Builds the chunks of one answer from its pieces, whoever read them: the decoder of a wire format, or an adapter over a library.
 *
 * Here is decided what all adapters must agree on: blocks in the order they first appear, call ids that are unique in the session, no
 * markup of tool calls in the text, usage before the finish, and which finish it is.
 *
 * Plain mutable code, because it runs once per token. `take` hands over what was built since the last call, so that the chunks of one
 * network read travel as one array.
 */
import type { ContentBlock } from "@dsh/protocol/Block"
import type { ReplayEnvelope, StreamChunk, TokenUsage } from "@dsh/protocol/StreamChunk"
import { Dsml } from "./AnswerWriter/Dsml.ts"
import * as Finish from "./AnswerWriter/Finish.ts"
import * as ToolCalls from "./AnswerWriter/ToolCalls.ts"
import type { Call } from "./AnswerWriter/ToolCalls.ts"

export { within } from "./AnswerWriter/Dsml.ts"

/** Whether a provider ended its answer for a reason that only it has, which is an error. */
export const isOwnReason = (reason: string): boolean => Finish.kindOf(reason) === undefined

/** What reading an answer has to know of the request. */
export interface Asked {
  /** Ids of tool calls that the session already uses. */
  readonly isTaken: (id: string) => boolean
  /** A new unique id. */
  readonly mint: () => string
  /** Names of the tools on offer. */
  readonly tools: ReadonlySet<string>
  /** Whether every line of a text stands in the conversation. */
  readonly isQuoted: (text: string) => boolean
}

/** The provider's own state for the blocks of an answer, in their order. */
export type Replay = (blocks: ReadonlyArray<ContentBlock>) => ReplayEnvelope | undefined

interface Prose {
  readonly type: "text" | "reasoning"
  readonly index: number
  text: string
}

export class AnswerWriter {
  /** Counts the pieces that carried content. */
  progress = 0

  readonly #router: ToolCalls.Router
  readonly #dsml: Dsml
  readonly #blocks: Array<Prose | Call> = []
  #out: Array<StreamChunk> = []
  #text: Prose | undefined
  #reasoning: Prose | undefined
  #usage: TokenUsage | undefined
  #finish: string | undefined

  constructor(asked: Asked) {
    this.#dsml = new Dsml(asked)
    this.#router = ToolCalls.make({ ...asked, nextBlock: () => this.#blocks.length })
  }

  /** A piece of the text, of which only that is shown which is no markup. */
  text(piece: string): void {
    if (piece === "") return
    this.progress++
    if (this.#dsml.isIdle && piece.indexOf("<") === -1) this.#prose("text", piece)
    else this.#prose("text", this.#dsml.push(piece, this.#text?.text ?? ""))
  }

  reasoning(piece: string): void {
    if (piece === "") return
    this.progress++
    this.#prose("reasoning", piece)
  }

  /** A delta as chat completions has it, `{index?, id?, function: {name?, arguments?}}`; what is none adds nothing. */
  toolCall(delta: unknown): void {
    const routed = this.#router.route(delta)
    if (routed === undefined) return
    const { call, fragment, isNew, name } = routed
    if (isNew) this.#open(call, call.block, "tool-call")
    this.progress++
    this.#out.push({
      type: "tool-call-delta",
      index: call.block,
      id: call.id,
      ...(name !== undefined && { name }),
      argumentsDelta: fragment
    })
  }

  /** The last one counts. */
  usage(usage: TokenUsage): void {
    this.#usage = usage
  }

  /** Why the answer ends, as the provider names it. The last one counts. */
  finish(reason: string): void {
    this.#finish = reason
  }

  /** What was built since the last call. */
  take(): Array<StreamChunk> {
    const out = this.#out
    this.#out = []
    return out
  }

  /** Closes every block and reports usage and finish. Call once, when the answer is known to be complete. */
  complete(replay?: Replay): void {
    const isLeaking = this.#settle()
    const blocks = this.#blocks.map(content)
    for (const [index, block] of blocks.entries()) this.#out.push({ type: "block-end", index, block })
    if (this.#usage !== undefined) this.#out.push({ type: "usage", usage: this.#usage })
    const says = { text: this.#text !== undefined, tools: this.#hasCalls, leak: isLeaking }
    const reason = Finish.reason(this.#finish, says)
    const replayState = replay?.(blocks)
    this.#out.push({ type: "finish", reason, ...(replayState !== undefined && { replayState }) })
  }

  get #hasCalls(): boolean {
    return this.#blocks.some((block) => "block" in block)
  }

  /** Decides about markup that was held back; `true` when it is a leak. */
  #settle(): boolean {
    const ending = this.#dsml.end()
    switch (ending.kind) {
      case "text":
        this.#prose("text", ending.text)
        return false
      case "leak":
        return true
      case "calls":
        // The provider has told calls from text after all, so this is not one of them.
        if (this.#hasCalls) return true
        for (const call of ending.calls) this.toolCall({ function: call })
        return false
    }
  }

  #prose(type: Prose["type"], piece: string): void {
    if (piece === "") return
    let block = type === "text" ? this.#text : this.#reasoning
    if (block === undefined) {
      block = { type, index: this.#blocks.length, text: "" }
      if (type === "text") this.#text = block
      else this.#reasoning = block
      this.#open(block, block.index, type)
    }
    block.text += piece
    this.#out.push({ type: type === "text" ? "text-delta" : "reasoning-delta", index: block.index, text: piece })
  }

  #open(block: Prose | Call, index: number, blockType: ContentBlock["type"]): void {
    this.#blocks.push(block)
    this.#out.push({ type: "block-start", index, blockType })
  }
}

const content = (block: Prose | Call): ContentBlock =>
  "block" in block
    ? { type: "tool-call", id: block.id, name: block.name, arguments: block.arguments }
    : { type: block.type, text: block.text }
