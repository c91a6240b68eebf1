import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as LlmDeepSeek from "@dsh/llm/LlmDeepSeek"
import * as LlmOpenAiCompatible from "@dsh/llm/LlmOpenAiCompatible"
import * as AdapterContract from "@dsh/testing/AdapterContract"
import type { Subject } from "@dsh/testing/AdapterContract"
import { HttpClient } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"

const deepSeek: Subject = {
  model: "deepseek-v4-flash",
  make: ({ apiKey, timeouts, url }) =>
    overHttp(LlmDeepSeek.make({ ...timeouts, connection: LlmDeepSeek.connection({ apiKey, baseUrl: url }) }))
}

const compatible: Subject = {
  model: "any/model",
  make: ({ apiKey, timeouts, url }) =>
    overHttp(
      LlmOpenAiCompatible.make({
        ...timeouts,
        provider: "local",
        baseUrl: url,
        apiKey: Effect.succeedSome(apiKey)
      })
    )
}

const overHttp = <A, E, R>(make: Effect.Effect<A, E, R>) =>
  Effect.flatMap(HttpClientNode.make, (client) => Effect.provideService(make, HttpClient.HttpClient, client))

describe.each([
  ["LlmDeepSeek", deepSeek],
  ["LlmOpenAiCompatible", compatible]
] as const)("%s", (_, subject) => {
  for (const { name, run } of AdapterContract.casesFor(subject)) {
    // One of them breaks a response off at every byte.
    it.scopedLive(name, () => run(subject), 120_000)
  }
})
