// The adapter of the cookbook keeps every rule there is for adapters.
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as AdapterContract from "@dsh/testing/AdapterContract"
import { HttpClient } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Acme from "../cookbook/acme.ts"

// #region contract
const acme: AdapterContract.Subject = {
  model: "acme-1",
  make: ({ apiKey, timeouts, url }) =>
    Effect.flatMap(HttpClientNode.make, (client) =>
      Acme.make({ ...timeouts, url, apiKey: Effect.succeed(apiKey) }).pipe(
        Effect.provideService(HttpClient.HttpClient, client)
      )
    )
}

describe("ACME", () => {
  for (const { name, run } of AdapterContract.casesFor(acme)) {
    it.scopedLive(name, () => run(acme), 120_000)
  }
})
// #endregion
