/**
 * The part of an adapter's configuration that influences the bytes of a request. It is logged in the request header, so a request
 * can be rendered again from the log alone, whatever the adapter is configured to by then.
 */
import type { JsonObject } from "@dsh/kernel/Json"
import type { WireProfile } from "@dsh/protocol/Request"

export const format = "chat-completions"

export interface Profile {
  /** Sent as `thinking: {type}`. Unless it is `disabled`, tool turns carry their reasoning, empty if need be. */
  readonly thinking?: "enabled" | "disabled"
  /** Sent as `reasoning_effort`. */
  readonly reasoningEffort?: string
  /** `strip` for providers that refuse `reasoning_content` in a request. Default `replay`. */
  readonly reasoning?: "replay" | "strip"
  /** Default `max_tokens`. */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens"
}

/** The profile as it is logged: plain JSON without absent fields. */
export const write = (profile: Profile): WireProfile => {
  const options: JsonObject = {
    ...(profile.thinking !== undefined && { thinking: profile.thinking }),
    ...(profile.reasoningEffort !== undefined && { reasoningEffort: profile.reasoningEffort }),
    ...(profile.reasoning !== undefined && { reasoning: profile.reasoning }),
    ...(profile.maxTokensField !== undefined && { maxTokensField: profile.maxTokensField })
  }
  return Object.keys(options).length === 0 ? { format } : { format, options }
}

/** Reads a logged profile; what an older or newer version wrote and this one does not know is left out. */
export const read = (wire: WireProfile): Profile => {
  const { maxTokensField, reasoning, reasoningEffort, thinking } = wire.options ?? {}
  return {
    ...((thinking === "enabled" || thinking === "disabled") && { thinking }),
    ...(typeof reasoningEffort === "string" && { reasoningEffort }),
    ...(reasoning === "strip" && { reasoning }),
    ...(maxTokensField === "max_completion_tokens" && { maxTokensField })
  }
}
