/**
 * The part of the adapter's configuration that shapes what pi-ai sends. It is logged in the request header, so that a request depends
 * on nothing but the log.
 */
import type { JsonObject } from "@dsh/kernel/Json"
import { isRecord } from "@dsh/llm/Lenient"
import { neutral } from "@dsh/protocol/NeutralRequest"
import type { WireProfile } from "@dsh/protocol/Request"
import type { AnthropicMessagesCompat, OpenAICompletionsCompat, OpenAIResponsesCompat } from "@earendil-works/pi-ai"

/** The protocols of pi-ai that are open here, by its names. */
export const apis = ["openai-completions", "openai-responses", "anthropic-messages"] as const
export type Api = (typeof apis)[number]

/** What pi-ai has to know of a server that it cannot guess from the address. */
export type Compat = OpenAICompletionsCompat | OpenAIResponsesCompat | AnthropicMessagesCompat

/** pi-ai's names for how hard a model thinks. */
export const efforts = ["off", "minimal", "low", "medium", "high", "xhigh"] as const
export type Effort = (typeof efforts)[number]

export type CacheRetention = "none" | "short" | "long"

export interface Profile {
  readonly api: Api
  readonly compat?: Compat | undefined
  /** What the provider calls an effort, where that differs. */
  readonly wireEfforts?: { readonly [K in Effort]?: string } | undefined
  readonly cacheRetention?: CacheRetention | undefined
  /** What becomes of an empty list of tools when the history has calls. Default `omit`. */
  readonly emptyTools?: "omit" | "send" | undefined
  /** `send`: the model takes images. Otherwise words stand in their place. */
  readonly images?: "send" | undefined
}

/** pi-ai takes a server it does not know for OpenAI, whose newest words other servers refuse. */
export const compat = (api: Api, baseUrl: string, given: Compat | undefined): Compat | undefined =>
  api !== "openai-completions" || baseUrl.includes("api.openai.com")
    ? given
    : { supportsDeveloperRole: false, supportsStore: false, ...given }

export const write = ({ api, cacheRetention, compat, emptyTools, images, wireEfforts }: Profile): WireProfile => ({
  format: neutral.format,
  options: {
    api,
    ...(compat !== undefined && { compat: { ...compat } as JsonObject }),
    ...(wireEfforts !== undefined && { wireEfforts: { ...wireEfforts } }),
    ...(cacheRetention !== undefined && { cacheRetention }),
    ...(emptyTools !== undefined && { emptyTools }),
    ...(images !== undefined && { images })
  }
})

/** Reads a logged profile; what does not fit is left out. */
export const read = ({ options = {} }: WireProfile): Omit<Profile, "api"> => ({
  // Flags are read by name: unknown ones do nothing.
  compat: isRecord(options.compat) ? (options.compat as Compat) : undefined,
  wireEfforts: isRecord(options.wireEfforts) ? (options.wireEfforts as Profile["wireEfforts"]) : undefined,
  cacheRetention: retentions.find((known) => known === options.cacheRetention),
  emptyTools: options.emptyTools === "send" ? "send" : undefined,
  images: options.images === "send" ? "send" : undefined
})

const retentions = ["none", "short", "long"] as const
