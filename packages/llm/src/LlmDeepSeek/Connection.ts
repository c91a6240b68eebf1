/**
 * Where the API is and with which key: looked up once per request, so that a rotated key or a changed address holds from the next
 * request on, and a program without a key can do everything but talk to the model.
 */
import * as Credentials from "@dsh/settings/Credentials"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Credential from "../ChatCompletions/Credential.ts"
import { LlmError } from "../LlmError.ts"

export interface Connection {
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted
}

export const officialUrl = "https://api.deepseek.com"
export const keyName = "DEEPSEEK_API_KEY"
export const urlName = "DEEPSEEK_BASE_URL"

/** A connection that is known in advance. */
export const fixed = (options: {
  readonly apiKey: Redacted.Redacted
  /** Default: the official API. */
  readonly baseUrl?: string
}): Effect.Effect<Connection, LlmError> =>
  Effect.map(Credential.usable(options.apiKey, keyName), (apiKey) => ({
    apiKey,
    baseUrl: Credential.strip(options.baseUrl ?? officialUrl)
  }))

/**
 * With the key that the credentials have when it runs. What is wrong with them is told in their words, as `MISSING_CREDENTIAL` when there
 * is no key, and else as `INVALID_CREDENTIAL`.
 */
export const fromCredentials = (
  credentials: Credentials.Credentials["Type"],
  /** Default: the official API. */
  baseUrl: string = officialUrl
): Effect.Effect<Connection, LlmError> =>
  Effect.mapBoth(Credentials.obtain(credentials, keyName), {
    onFailure: (cause) => {
      const code = cause.code === "MISSING_CREDENTIAL" ? cause.code : "INVALID_CREDENTIAL"
      return new LlmError({ code, message: cause.message, cause })
    },
    onSuccess: (apiKey) => ({ apiKey, baseUrl: Credential.strip(baseUrl) })
  })

const settings = Config.all({
  apiKey: Config.option(Config.redacted(keyName)),
  baseUrl: Config.withDefault(Config.string(urlName), officialUrl)
})

/**
 * Reads `DEEPSEEK_API_KEY` and `DEEPSEEK_BASE_URL` with the ConfigProvider that is current now, each time it runs. The inner effect
 * fails with `MISSING_CREDENTIAL` when there is no key, and with `INVALID_CREDENTIAL` when it cannot be sent.
 */
export const fromConfig: Effect.Effect<Effect.Effect<Connection, LlmError>> = Effect.configProviderWith((provider) =>
  Effect.succeed(
    provider.load(settings).pipe(
      Effect.mapError((error) => new LlmError({ code: "MISSING_CREDENTIAL", message: String(error), cause: error })),
      Effect.flatMap(({ apiKey, baseUrl }) =>
        Option.match(apiKey, {
          onNone: () => Effect.fail(missing),
          onSome: (key) =>
            Redacted.value(key).trim() === ""
              ? Effect.fail(missing)
              : fixed({ apiKey: key, baseUrl: baseUrl.trim() === "" ? officialUrl : baseUrl })
        })
      )
    )
  )
)

const missing = new LlmError({
  code: "MISSING_CREDENTIAL",
  message:
    `no DeepSeek API key: ${keyName} is not set; set it with \`export ${keyName}=…\` ` +
    "(keys: https://platform.deepseek.com/api_keys), or try `dsh demo`, which needs none"
})
