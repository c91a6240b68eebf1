/**
 * Whether the address of the model can be reached, by the way a run would take. Whatever it answers, it was reached; no key is sent.
 */
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Address from "../Address.ts"
import type { Check } from "./Finding.ts"
import * as Finding from "./Finding.ts"

const deadlineSeconds = 5

const offline = "check the connection, DEEPSEEK_BASE_URL and the proxy variables"

/** @param status Of the answer to a request without a key. */
export const judge = (shown: string, status: number): Finding.Finding => {
  if (status >= 300 && status < 400) {
    return Finding.warn(
      `${shown} answers with a redirection (${status}), as a login page on the way does`,
      "open a page in a browser, or correct DEEPSEEK_BASE_URL"
    )
  }
  if (status >= 500) return Finding.warn(`${shown} answers with ${status}`, "try again later, or ask whoever runs it")
  return Finding.ok(`${shown} answers (${status})`)
}

const ask = (url: string, shown: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient
      const { status } = yield* client.get(`${url}/models`)
      return judge(shown, status)
    })
  ).pipe(
    Effect.catchAll(({ description, message }) => {
      const { remedy = offline, ...found } = Finding.because("warn", { message: description ?? message })
      return Effect.succeed(Finding.warn(`${shown} cannot be reached: ${found.message}`, remedy))
    }),
    Effect.timeoutTo({
      duration: `${deadlineSeconds} seconds`,
      onSuccess: (finding) => finding,
      onTimeout: () => Finding.warn(`${shown} gave no answer within ${deadlineSeconds} s`, offline)
    })
  )

export const check: Check = () =>
  Effect.gen(function* () {
    const { isValid, shown, url } = yield* Address.ofModel
    if (!isValid) {
      return Finding.fail(
        "DEEPSEEK_BASE_URL is no address of a server",
        "set it as https://host/path, or unset it for the provider's own"
      )
    }
    const finding = yield* ask(url, shown)
    const proxies = (yield* HttpClientNode.proxies).filter(({ name }) => !/^no_proxy$/i.test(name))
    if (proxies.length === 0) return finding
    const ways = proxies.map(({ name, value }) => `${name}=${value}`).join(", ")
    return { ...finding, message: `${finding.message} (set: ${ways})` }
  }).pipe(Effect.provide(HttpClientNode.layer))
