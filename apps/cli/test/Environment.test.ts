import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Environment from "../src/Environment.ts"

type Env = Readonly<Record<string, string>>

/** Nothing is kept in the home folder. */
const withEnv = (env: Env) =>
  Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries({ DSH_HOME: "/nowhere/at/all", ...env }))))

const providerIn = (env: Env) => withEnv(env)(Environment.provider)

describe("Environment.provider", () => {
  it.effect("reads the key and the address", () =>
    Effect.gen(function* () {
      const provider = yield* providerIn({ DEEPSEEK_API_KEY: " sk-1\n", DEEPSEEK_BASE_URL: "http://127.0.0.1:1" })
      assert.strictEqual(Redacted.value(provider.apiKey), "sk-1")
      assert.strictEqual(provider.baseUrl, "http://127.0.0.1:1")
      assert.isUndefined((yield* providerIn({ DEEPSEEK_API_KEY: "sk-1", DEEPSEEK_BASE_URL: " " })).baseUrl)
    })
  )

  it.effect("names the variable, the command and the demo when there is no key", () =>
    Effect.gen(function* () {
      for (const env of [{}, { DEEPSEEK_API_KEY: "" }]) {
        const failure = yield* Effect.flip(providerIn(env))
        assert.deepInclude(failure, { code: "MISSING_CREDENTIAL", exitCode: 3 })
        for (const part of ["DEEPSEEK_API_KEY", "dsh run", "dsh demo", "dsh credentials set DEEPSEEK_API_KEY"])
          assert.include(failure.message, part)
      }
    })
  )

  it.effect("refuses a key with foreign characters, without showing it", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(providerIn({ DEEPSEEK_API_KEY: "sk-“secret”" }))
      assert.deepInclude(failure, { code: "INVALID_CREDENTIAL", exitCode: 3 })
      assert.notInclude(failure.message, "secret")
    })
  )
})

describe("Environment.toolsMode", () => {
  it.effect("is one of three, native where it is not set, and nothing else", () =>
    Effect.gen(function* () {
      const given = (mode: string) => withEnv({ DSH_TOOLS_MODE: mode })(Environment.toolsMode)
      for (const mode of ["native", "ptc", "both"]) assert.strictEqual(yield* given(mode), mode)
      assert.strictEqual(yield* given(" "), "native")
      assert.strictEqual(yield* withEnv({})(Environment.toolsMode), "native")
      const failure = yield* Effect.flip(given("code"))
      assert.deepInclude(failure, { code: "INVALID_CONFIG", exitCode: 3 })
      assert.include(failure.message, "native, ptc, both")
    })
  )
})
