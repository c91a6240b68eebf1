import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as LlmPiAi from "@dsh/llm-pi-ai/LlmPiAi"
import * as AdapterContract from "@dsh/testing/AdapterContract"
import type { Subject } from "@dsh/testing/AdapterContract"
import { HttpClient } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"

const dialects = {
  "openai-completions": "chat-completions",
  "openai-responses": "responses",
  "anthropic-messages": "messages"
} as const

const subject = (api: LlmPiAi.Api): Subject => ({
  model: "any/model",
  dialect: dialects[api],
  body: "neutral",
  make: ({ apiKey, timeouts, url }) =>
    Effect.flatMap(HttpClientNode.make, (client) =>
      Effect.provideService(
        LlmPiAi.make({
          ...timeouts,
          provider: "pi",
          api,
          baseUrl: url,
          // A model that reasons: only then is OpenAI asked for thoughts that can be sent back.
          ...(api === "openai-responses" && { efforts: ["low"], reasoningEffort: "low" }),
          apiKey: Effect.succeedSome(apiKey)
        }),
        HttpClient.HttpClient,
        client
      )
    )
})

describe.each(["openai-completions", "openai-responses", "anthropic-messages"] as const)("%s", (api) => {
  const adapter = subject(api)
  for (const { name, run } of AdapterContract.casesFor(adapter)) {
    // One of them breaks a response off at every byte.
    it.scopedLive(name, () => run(adapter), 120_000)
  }
})
