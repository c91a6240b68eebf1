/**
 * What differs between servers that all say they speak chat completions, and what each difference becomes on the wire.
 *
 * The defaults are what the widest set of servers takes: nothing that only some of them know, and nothing empty that some of them refuse.
 */
import type { Profile } from "../ChatCompletions.ts"

export interface Quirks {
  /** The field of the output ceiling. Default `max_tokens`; OpenAI's reasoning models want the other one. */
  readonly maxTokens?: "max_tokens" | "max_completion_tokens"
  /** Whether `stream_options: {include_usage: true}` is understood. Default true; without it most servers count no tokens. */
  readonly streamUsage?: boolean
  /**
   * Where the reasoning of earlier answers is sent back. Default `strip`: many servers refuse the field. DeepSeek's models in thinking
   * mode refuse a conversation without it: `reasoning_content` for them, `reasoning` on OpenRouter.
   */
  readonly reasoning?: "strip" | "reasoning_content" | "reasoning"
  /** How a reasoning effort is sent: as `reasoning_effort`, as `reasoning: {effort}`, or not at all. Default `reasoning_effort`. */
  readonly effort?: "reasoning_effort" | "reasoning" | "none"
  /** The role of the system prompt. Default `system`. */
  readonly systemRole?: "system" | "developer"
  /** What an assistant message without text has for `content`. Default `""`. */
  readonly emptyContent?: "string" | "null"
  /** Whether the result of a tool that said nothing may be empty. Default false: it is given words. */
  readonly blankToolOutput?: boolean
  /** Whether `tools: []` is sent where there are none. Default false; some gateways want it when the history has calls. */
  readonly emptyTools?: boolean
}

/** The profile of a request. Only what is not the default is logged. */
export const profile = (quirks: Quirks, effort: string | undefined): Profile => ({
  ...(effort !== undefined && { reasoningEffort: wireEffort(effort) }),
  ...(quirks.effort === "reasoning" && { effortField: "reasoning" }),
  ...(quirks.reasoning === "reasoning" || quirks.reasoning === "reasoning_content"
    ? { reasoningField: quirks.reasoning }
    : { reasoning: "strip" }),
  ...(quirks.maxTokens !== undefined && { maxTokensField: quirks.maxTokens }),
  ...(quirks.streamUsage === false && { streamUsage: "omit" }),
  ...(quirks.systemRole !== undefined && { systemRole: quirks.systemRole }),
  ...(quirks.emptyContent !== undefined && { emptyContent: quirks.emptyContent }),
  ...(quirks.blankToolOutput === true && { blankToolOutput: "keep" }),
  ...(quirks.emptyTools === true && { emptyTools: "send" })
})

/** `off` is our word for it. */
const wireEffort = (effort: string): string => (effort === "off" ? "none" : effort)
