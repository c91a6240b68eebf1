import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as LlmEffectAi from "@dsh/llm-effect-ai/LlmEffectAi"
import * as AdapterContract from "@dsh/testing/AdapterContract"
import type { Subject } from "@dsh/testing/AdapterContract"
import { HttpClient } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { anthropic, openAi } from "./support.ts"
import type { Model } from "./support.ts"

const subject = (dialect: "responses" | "messages", model: (apiUrl: string) => Model): Subject => ({
  model: "any/model",
  dialect,
  body: "neutral",
  make: ({ apiKey, timeouts, url }) =>
    Effect.flatMap(HttpClientNode.make, (client) =>
      Effect.provideService(
        LlmEffectAi.make({
          ...timeouts,
          provider: "effect",
          apiKey: Effect.succeedSome(apiKey),
          model: model(url)
        }),
        HttpClient.HttpClient,
        client
      )
    )
})

describe.each([
  ["OpenAI", subject("responses", openAi())],
  ["Anthropic", subject("messages", anthropic())]
] as const)("%s", (_, adapter) => {
  for (const { name, run } of AdapterContract.casesFor(adapter)) {
    // One of them breaks a response off at every byte.
    it.scopedLive(name, () => run(adapter), 120_000)
  }
})
