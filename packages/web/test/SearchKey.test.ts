// Whose key a search uses.
import * as CredentialsMemory from "@dsh/settings/CredentialsMemory"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted } from "effect"
import * as SearchKey from "../src/SearchKey.ts"

const lookUp = Effect.flatMap(SearchKey.standing("EXA_API_KEY"), (lookup) =>
  Effect.map(lookup, (key) => (key === undefined ? undefined : Redacted.value(key)))
)

const configured = Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["EXA_API_KEY", "of-the-config"]])))

describe("SearchKey.standing", () => {
  it.effect("is that of the credentials where there are some, and else of the configuration", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* configured(lookUp), "of-the-config")
      const kept = CredentialsMemory.layer({ refs: { EXA_API_KEY: "kept" } })
      assert.strictEqual(yield* configured(Effect.provide(lookUp, kept)), "kept")
      assert.isUndefined(yield* configured(Effect.provide(lookUp, CredentialsMemory.layer())))
    })
  )

  it.effect("a key that was set since counts with the next search", () =>
    Effect.gen(function* () {
      const credentials = yield* CredentialsMemory.make()
      const lookup = Effect.map(credentials.resolve("EXA_API_KEY"), (found) =>
        found._tag === "Some" ? found.value.value : undefined
      )
      const key = SearchKey.make(Effect.orDie(lookup), "EXA_API_KEY")
      assert.isFalse(yield* key.available)
      assert.strictEqual((yield* Effect.flip(key.get)).code, "WEB_PROVIDER_CREDENTIAL_MISSING")
      yield* credentials.set("EXA_API_KEY", Redacted.make("new"))
      assert.isTrue(yield* key.available)
      assert.strictEqual(Redacted.value(yield* key.get), "new")
    })
  )
})
