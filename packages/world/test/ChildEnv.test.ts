import { assert, describe, it } from "@effect/vitest"
import * as ChildEnv from "../src/ChildEnv.ts"

describe("ChildEnv", () => {
  it("keeps what is harmless and drops secrets and our own settings", () => {
    const env = ChildEnv.scrub({
      PATH: "/bin",
      HOME: "/home/u",
      COMPAT: "1",
      PATTERN: "x",
      DEEPSEEK_API_KEY: "a",
      DB_PASSPHRASE: "b",
      GH_PAT: "c",
      PAT: "d",
      npm_token: "e",
      Secret_Thing: "f",
      MYSQL_PASSWORD: "g",
      GOOGLE_APPLICATION_CREDENTIALS: "h",
      DSH_HOME: "/home/u/.dsh",
      GONE: undefined
    })
    assert.deepStrictEqual(env, { PATH: "/bin", HOME: "/home/u", COMPAT: "1", PATTERN: "x" })
  })

  it("drops a secret that also goes by an innocent name", () => {
    const env = ChildEnv.scrub({
      SERVICE_TOKEN: "0123456789abcdef",
      LLM_AUTH: "0123456789abcdef",
      SHORT_TOKEN: "true",
      COLOR: "true"
    })
    assert.deepStrictEqual(env, { COLOR: "true" })
  })

  it("lets an explicit variable win and undefined remove one", () => {
    assert.deepStrictEqual(ChildEnv.merge({ A: "1", B: "2" }, { B: undefined, API_KEY: "given", A: "3" }), {
      A: "3",
      API_KEY: "given"
    })
  })
})
