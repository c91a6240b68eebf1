/**
 * An answer in chat completions, said again the way the specification has it: one piece an event, every call with its index and an id,
 * the finish and the usage once and last. Libraries trip over less than servers do.
 */
import type { TokenUsage } from "@dsh/protocol/StreamChunk"
import { isEnough } from "./Fragments.ts"
import * as Finish from "../AnswerWriter/Finish.ts"
import * as ToolCalls from "../AnswerWriter/ToolCalls.ts"
import type { Sink } from "../ChatCompletions/Decode.ts"

export class ChatRelay implements Sink<string> {
  progress = 0
  /** As it was reported, in our buckets. */
  reported: TokenUsage | undefined
  #finish = "stop"
  #calls = 0
  #minted = 0
  #held: { readonly call: ToolCalls.Call | undefined; readonly text: string } = none
  #out: Array<string> = []
  readonly #router = ToolCalls.make({
    isTaken: () => false,
    mint: () => `relayed_${++this.#minted}`,
    nextBlock: () => this.#calls++
  })

  text(piece: string): void {
    if (piece === "") return
    this.progress++
    this.#delta({ content: piece })
  }

  reasoning(piece: string, field: string): void {
    if (piece === "") return
    this.progress++
    this.#delta({ [field]: piece })
  }

  toolCall(delta: unknown): void {
    const routed = this.#router.route(delta)
    if (routed === undefined) return
    const { call, fragment, isNew, name } = routed
    this.progress++
    if (!isNew && name === undefined) {
      if (this.#held.call !== call) this.#release()
      const text = this.#held.text + fragment
      this.#held = { call, text }
      if (isEnough(text, call.arguments.length)) this.#release()
      return
    }
    this.#delta({
      tool_calls: [
        {
          index: call.block,
          ...(isNew && { id: call.id, type: "function" }),
          function: { ...(name !== undefined && { name }), arguments: fragment }
        }
      ]
    })
  }

  details(details: unknown): void {
    this.#delta({ reasoning_details: details })
  }

  usage(usage: TokenUsage): void {
    this.reported = usage
  }

  finish(reason: string): void {
    const kind = Finish.kindOf(reason)
    this.#finish = kind === undefined ? reason : usual[kind]
  }

  take(): Array<string> {
    const out = this.#out
    this.#out = []
    return out
  }

  complete(): void {
    this.#release()
    this.#event([{ index: 0, delta: {}, finish_reason: this.#finish }])
    if (this.reported !== undefined) this.#event([], written(this.reported))
    this.#out.push("data: [DONE]\n\n")
  }

  #release(): void {
    const { call, text } = this.#held
    this.#held = none
    if (call !== undefined) this.#delta({ tool_calls: [{ index: call.block, function: { arguments: text } }] })
  }

  #delta(delta: object): void {
    if (this.#held !== none) this.#release()
    this.#event([{ index: 0, delta, finish_reason: null }])
  }

  #event(choices: ReadonlyArray<object>, usage?: object): void {
    const event = { id: "relayed", object: "chat.completion.chunk", created: 0, model: "relayed", choices }
    this.#out.push(`data: ${JSON.stringify(usage === undefined ? event : { ...event, usage })}\n\n`)
  }
}

const none = { call: undefined, text: "" }

const usual = { stop: "stop", "tool-calls": "tool_calls", "max-tokens": "length" } as const

const written = ({ cacheReadTokens = 0, inputTokens, outputTokens, reasoningTokens = 0 }: TokenUsage) => ({
  prompt_tokens: inputTokens + cacheReadTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + cacheReadTokens + outputTokens,
  prompt_tokens_details: { cached_tokens: cacheReadTokens },
  completion_tokens_details: { reasoning_tokens: reasoningTokens }
})
