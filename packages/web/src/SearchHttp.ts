/**
 * One request to a search provider: with a deadline, a limit, no redirects, and no key in any message.
 */
import * as Lenient from "@dsh/llm/Lenient"
import * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientRequest } from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { WebError } from "./WebError.ts"

/** More than any honest list of results has. */
const maxBytes = 2_000_000

export interface Endpoint {
  /** For people. */
  readonly name: string
  readonly client: HttpClient.HttpClient
  /** Default 30 seconds. */
  readonly timeout?: Duration.DurationInput | undefined
  /** Is taken out of whatever the provider says. */
  readonly secret?: Redacted.Redacted
}

/** Bearers of a key have no business with our traces. */
export const quiet = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.withTracerPropagation(client, false)

/** The JSON that the provider answers. Fails with `WEB_PROVIDER_ERROR`. */
export const ask = (request: HttpClientRequest, endpoint: Endpoint): Effect.Effect<unknown, WebError> => {
  const { client, name, secret, timeout = "30 seconds" } = endpoint
  const failed = (what: string, cause?: unknown) =>
    new WebError({ code: "WEB_PROVIDER_ERROR", message: `${name} ${what}`, cause })

  const excerpt = (text: string): string => {
    const key = secret === undefined ? "" : Redacted.value(secret)
    return Lenient.excerpt(key === "" ? text : text.replaceAll(key, "<redacted>"), 300)
  }

  const answer = (response: HttpClientResponse) =>
    Effect.gen(function* () {
      const { status } = response
      if (status >= 300 && status < 400) {
        return yield* failed(`redirects (HTTP ${status}), which is not followed with a key; correct its address`)
      }
      const text = yield* read(response)
      if (text === undefined) return yield* failed(`answered with more than ${maxBytes} bytes; ask for fewer results`)
      if (secret !== undefined && (status === 401 || status === 403)) {
        return yield* failed(`does not accept the key (HTTP ${status}): ${excerpt(text)}; correct the key`)
      }
      if (status < 200 || status > 299) {
        return yield* failed(`answered with HTTP ${status}: ${excerpt(text)}; try again later, or use another provider`)
      }
      return yield* Effect.try({
        try: (): unknown => JSON.parse(text),
        catch: () => failed(`answered with something that is no JSON: ${excerpt(text)}`)
      })
    })

  const read = (response: HttpClientResponse): Effect.Effect<string | undefined, WebError> =>
    Effect.suspend(() => {
      const decoder = new TextDecoder()
      let text = ""
      let size = 0
      const reading = Stream.runForEachWhile(response.stream, (part) =>
        Effect.sync(() => {
          size += part.length
          text += decoder.decode(part, { stream: true })
          return size <= maxBytes
        })
      )
      return Effect.mapBoth(reading, {
        onFailure: () => failed("broke off in the middle of its answer; try again"),
        onSuccess: () => (size > maxBytes ? undefined : text)
      })
    })

  return client.execute(request).pipe(
    // The request is in the error, and the key in the request.
    Effect.mapError(({ description, message }) => failed(`could not be reached (${excerpt(description ?? message)})`)),
    Effect.flatMap(answer),
    Effect.timeoutFail({
      duration: timeout,
      onTimeout: () => failed(`did not answer within ${Duration.format(timeout)}; try again later`)
    })
  )
}
