/**
 * pi-ai itself. Each protocol is a module with an SDK of its own, loaded when it is first asked.
 *
 * The SDKs take the `fetch` they find when their client is made, which pi-ai does before it first waits for anything. So ours stands in
 * the place of the global one for exactly that synchronous call, and nobody else can see it.
 */
import { LlmError } from "@dsh/llm/LlmError"
import type {
  AnthropicMessagesCompat,
  AssistantMessageEvent,
  Context,
  Model,
  OpenAICompletionsCompat,
  OpenAIResponsesCompat,
  SimpleStreamOptions
} from "@earendil-works/pi-ai"
import * as Effect from "effect/Effect"
import type { Api, Compat } from "./Profile.ts"

/** A model in pi-ai's terms. */
export type Facts = Omit<Model<Api>, "api" | "compat"> & { readonly compat: Compat | undefined }

/** Sends one request. What goes wrong is an event; it throws only when it cannot even begin. */
export type Ask = (facts: Facts, context: Context, options: SimpleStreamOptions) => AsyncIterable<AssistantMessageEvent>

export const load = (api: Api): Effect.Effect<Ask, LlmError> =>
  Effect.tryPromise({
    try: () => modules[api](),
    catch: (cause) =>
      new LlmError({ code: "PI_AI_ERROR", message: `pi-ai cannot be loaded; install the packages again`, cause })
  })

const modules: Readonly<Record<Api, () => Promise<Ask>>> = {
  "openai-completions": async () => {
    const { streamSimpleOpenAICompletions } = await import("@earendil-works/pi-ai/openai-completions")
    return (facts, context, options) =>
      streamSimpleOpenAICompletions(
        model<"openai-completions", OpenAICompletionsCompat>("openai-completions", facts),
        context,
        options
      )
  },
  "openai-responses": async () => {
    const { streamSimpleOpenAIResponses } = await import("@earendil-works/pi-ai/openai-responses")
    return (facts, context, options) =>
      streamSimpleOpenAIResponses(
        model<"openai-responses", OpenAIResponsesCompat>("openai-responses", facts),
        context,
        options
      )
  },
  "anthropic-messages": async () => {
    const { streamSimpleAnthropic } = await import("@earendil-works/pi-ai/anthropic")
    return (facts, context, options) =>
      streamSimpleAnthropic(
        model<"anthropic-messages", AnthropicMessagesCompat>("anthropic-messages", facts),
        context,
        options
      )
  }
}

// The flags of a server are read by name, so flags of another protocol say nothing.
const model = <A extends Api, C extends Compat>(api: A, { compat, ...facts }: Facts) => ({
  ...facts,
  api,
  ...(compat !== undefined && { compat: compat as C })
})

/** Runs `begin` with another `fetch`. */
export const withFetch = <A>(fetch: typeof globalThis.fetch, begin: () => A): A => {
  const own = globalThis.fetch
  globalThis.fetch = fetch
  try {
    return begin()
  } finally {
    globalThis.fetch = own
  }
}
