/**
 * The address of the model, and how to speak of it: what may be in it beside the server and the path is nobody's business.
 */
import * as ChatCompletions from "@dsh/llm/ChatCompletions"
import * as LlmDeepSeek from "@dsh/llm/LlmDeepSeek"
import * as Effect from "effect/Effect"
import { read } from "./Variables.ts"

export interface Address {
  readonly url: string
  /** Without a password or a query. */
  readonly shown: string
  /** Whether it is an address of a server at all. */
  readonly isValid: boolean
  readonly source: "environment" | "default"
}

/** Only what is an address of a server is shown; what else somebody set may be anything. */
export const parse = (text: string, source: Address["source"]): Address => {
  const url = ChatCompletions.baseUrl(text)
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  return parsed !== undefined && /^https?:$/.test(parsed.protocol)
    ? { url, shown: `${parsed.protocol}//${parsed.host}${parsed.pathname.replace(/\/+$/, "")}`, isValid: true, source }
    : { url, shown: "(no address)", isValid: false, source }
}

export const ofModel: Effect.Effect<Address> = Effect.map(read("DEEPSEEK_BASE_URL"), (set) =>
  set === undefined ? parse(LlmDeepSeek.officialUrl, "default") : parse(set, "environment")
)
