/**
 * The part of an adapter's configuration that influences the bytes of a request. It is logged in the request header, so a request
 * can be rendered again from the log alone, whatever the adapter is configured to by then.
 *
 * What is absent means what it always meant: a new choice gets a new value, never a new default.
 */
import type { JsonObject } from "@dsh/kernel/Json"
import type { WireProfile } from "@dsh/protocol/Request"

export const format = "chat-completions"

export interface Profile {
  /** Sent as `thinking: {type}`. */
  readonly thinking?: "enabled" | "disabled"
  readonly reasoningEffort?: string
  /** Where the effort goes: `reasoning_effort`, the default, or `reasoning: {effort}`. */
  readonly effortField?: "reasoning_effort" | "reasoning"
  /**
   * `replay`, the default: assistant messages carry their reasoning, and those with tool calls an empty one if need be, unless thinking
   * is `disabled`. `strip` for providers that refuse it.
   */
  readonly reasoning?: "replay" | "strip"
  /** Where reasoning is replayed. Default `reasoning_content`. */
  readonly reasoningField?: "reasoning_content" | "reasoning"
  /** Default `max_tokens`. */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens"
  /** Whether `stream_options` asks for token counts. Default `ask`. */
  readonly streamUsage?: "ask" | "omit"
  /** Default `system`. */
  readonly systemRole?: "system" | "developer"
  /** What stands for the text of an assistant message that has none. Default `string`, the empty one. */
  readonly emptyContent?: "string" | "null"
  /** Whether the result of a tool that said nothing is given words. Default `fill`. */
  readonly blankToolOutput?: "fill" | "keep"
  /** What becomes of an empty list of tools. Default `omit`. */
  readonly emptyTools?: "omit" | "send"
  /** `send`: the model takes images. Otherwise words stand in their place. */
  readonly images?: "send"
}

/** The profile as it is logged: plain JSON without absent fields. */
export const write = (profile: Profile): WireProfile => {
  const options: JsonObject = Object.fromEntries(
    Object.entries(profile).filter((field): field is [string, string] => field[1] !== undefined)
  )
  return Object.keys(options).length === 0 ? { format } : { format, options }
}

/** A profile with every field, those it lacks as `undefined`. */
export type Known = { readonly [K in keyof Required<Profile>]: Profile[K] | undefined }

/** Reads a logged profile; what an older or newer version wrote and this one does not know is left out. */
export const read = ({ options: logged = {} }: WireProfile): Known => ({
  thinking: one(logged.thinking, "enabled", "disabled"),
  reasoningEffort: typeof logged.reasoningEffort === "string" ? logged.reasoningEffort : undefined,
  effortField: one(logged.effortField, "reasoning_effort", "reasoning"),
  reasoning: one(logged.reasoning, "replay", "strip"),
  reasoningField: one(logged.reasoningField, "reasoning_content", "reasoning"),
  maxTokensField: one(logged.maxTokensField, "max_tokens", "max_completion_tokens"),
  streamUsage: one(logged.streamUsage, "ask", "omit"),
  systemRole: one(logged.systemRole, "system", "developer"),
  emptyContent: one(logged.emptyContent, "string", "null"),
  blankToolOutput: one(logged.blankToolOutput, "fill", "keep"),
  emptyTools: one(logged.emptyTools, "omit", "send"),
  images: one(logged.images, "send")
})

const one = <A extends string>(value: unknown, ...known: ReadonlyArray<A>): A | undefined =>
  known.find((each) => each === value)
