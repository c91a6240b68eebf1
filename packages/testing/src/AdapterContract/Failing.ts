/**
 * Rules about responses that are none, and about answers that end in a failure.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { ContractCase, Subject } from "../AdapterContract.ts"
import * as MockLlm from "../MockLlm.ts"
import * as Reply from "../Reply.ts"
import { apiKey, ask, collect, ending, prepare, said } from "./Ask.ts"
import type { Answer } from "./Ask.ts"
import { holds, same } from "./Expect.ts"
import { cut, samplesOf } from "./Samples.ts"

/** What providers say when a request is too long for the model. */
const tooLong = [
  "This model's maximum context length is 1048576 tokens. However, you requested 1174018 tokens " +
    "(1042946 in the messages, 131072 in the completion)",
  "request (124071 tokens) exceeds the available context size",
  "prompt is too long"
]

const endings = (subject: Subject, expected: { readonly [K in Reply.BehaviourName]?: string }) =>
  Effect.forEach(Object.entries(expected), ([name, code]) =>
    Effect.flatMap(ask(subject, Reply.behaviour(name as Reply.BehaviourName)), (answer) =>
      same(name, ending(answer), code)
    )
  )

const requestIdOf = ({ dialect }: Subject): string => (dialect === "messages" ? "request-id" : "x-request-id")

const waits = ({ error }: Answer): number | undefined => error?.providerRetryAfterMs

export const failing: ReadonlyArray<ContractCase> = [
  {
    name: "a refusal has a code that says what kind it is",
    run: (subject) =>
      Effect.gen(function* () {
        yield* endings(subject, {
          rate_limit: "RATE_LIMIT",
          server_error: "SERVER",
          service_unavailable: "SERVER",
          auth_error: "AUTH",
          invalid_request: "INVALID_REQUEST",
          context_overflow: "CONTEXT_WINDOW_EXCEEDED",
          quota_exceeded: "QUOTA",
          wrong_content_type: "INVALID_RESPONSE"
        })
        const { begun, error, event } = samplesOf(subject)
        if (subject.dialect !== "messages") {
          const detail = { message: "too much", code: "context_length_exceeded" }
          yield* same("by its code", ending(yield* ask(subject, Reply.error(400, detail))), "CONTEXT_WINDOW_EXCEEDED")
        }
        for (const message of tooLong) {
          yield* same(message, ending(yield* ask(subject, Reply.error(400, { message }))), "CONTEXT_WINDOW_EXCEEDED")
          const inside = yield* ask(subject, cut(begun("a") + event(error(message))))
          yield* same(`in a stream: ${message}`, ending(inside), "CONTEXT_WINDOW_EXCEEDED")
        }
      })
  },
  {
    name: "a refusal says its status, the id of the exchange and how long to wait, when that can be told",
    run: (subject) =>
      Effect.gen(function* () {
        const headers: ReadonlyArray<readonly [string | undefined, number | undefined]> = [
          ["2", 2000],
          ["3600", 3_600_000],
          ["0", undefined],
          ["soon", undefined],
          [undefined, undefined]
        ]
        for (const status of [429, 503]) {
          for (const [value, expected] of headers) {
            const reply = Reply.error(status, { message: "slow down" }, { ...(value && { "retry-after": value }) })
            yield* same(`${status}, ${value}`, waits(yield* ask(subject, reply)), expected)
          }
        }
        const far = new Date(Date.UTC(2999, 0)).toUTCString()
        const dated = waits(yield* ask(subject, Reply.error(429, { message: "slow" }, { "retry-after": far })))
        yield* holds(`a date: ${dated}`, (dated ?? 0) > 1e12)
        const { error } = yield* ask(subject, Reply.error(500, { message: "oops" }, { [requestIdOf(subject)]: "r9" }))
        yield* same("status and id", [error?.status, error?.requestId], [500, "r9"])
      })
  },
  {
    name: "a refusal of any size has a message that can be read",
    run: (subject) =>
      Effect.gen(function* () {
        const { error } = yield* ask(subject, Reply.http(500, { body: "x".repeat(1_000_000) }))
        yield* holds("the message is too long", (error?.message.length ?? 9999) < 1000)
      })
  },
  {
    name: "the key is in no failure, even when the server quotes it",
    run: (subject) =>
      Effect.gen(function* () {
        const { begun, error: failed, event } = samplesOf(subject)
        const key = Redacted.value(apiKey)
        const message = `Incorrect API key provided: ${key}`
        const answers = [
          yield* ask(subject, Reply.error(401, { message })),
          yield* ask(subject, Reply.http(401, { body: message })),
          yield* ask(subject, Reply.http(200, { body: `<html>${key}</html>` })),
          yield* ask(subject, cut(begun("a") + event(failed(message)))),
          yield* ask(subject, cut(`data: ${key}\n\n`))
        ]
        for (const { error } of answers) {
          const { cause, failure } = error ?? {}
          yield* holds(`${failure?.message}`, error !== undefined && !JSON.stringify([failure, cause]).includes(key))
        }
      })
  },
  {
    name: "a server that cannot be reached is a failure of the transport",
    run: (subject) =>
      Effect.gen(function* () {
        const url = yield* MockLlm.refusedUrl
        const adapter = yield* subject.make({ url, apiKey, timeouts: {} })
        const answer = yield* collect((yield* prepare(adapter, subject.model)).stream)
        yield* same("end", ending(answer), "TRANSPORT")
        yield* holds("it may be tried again", answer.error?.isRetryable === true)
      })
  },
  {
    name: "a connection that breaks is a failure, after words or after a whole tool call",
    run: (subject) =>
      Effect.gen(function* () {
        yield* endings(subject, {
          connection_reset: "TRANSPORT",
          stream_disconnect: "TRANSPORT",
          partial_disconnect: "TRANSPORT",
          stream_eof: "STREAM_CLOSED",
          partial_eof: "STREAM_CLOSED"
        })
        const { begun, called } = samplesOf(subject)
        yield* same("call, reset", ending(yield* ask(subject, cut(called, "reset"))), "TRANSPORT")
        yield* same("call, end", ending(yield* ask(subject, cut(called))), "STREAM_CLOSED")
        const words = yield* ask(subject, cut(begun("a", "a"), "reset"))
        yield* same("words stay", [said(words), ending(words)], ["aa", "TRANSPORT"])
      })
  },
  {
    name: "an error inside a response with status 200 is that error, whatever came before",
    run: (subject) =>
      Effect.gen(function* () {
        const { begun, errors, event } = samplesOf(subject)
        for (const [error, code] of errors) {
          const answer = yield* ask(subject, cut(begun("a", "a", "a") + event(error)))
          yield* same(JSON.stringify(error), [said(answer), ending(answer)], ["aaa", code])
          yield* holds("the id of the exchange is lost", answer.error?.requestId?.startsWith("mock-") === true)
        }
        const alone = yield* ask(subject, Reply.http(200, { body: { error: { message: "Rate limit reached" } } }))
        yield* same("not streamed", ending(alone), "RATE_LIMIT")
      })
  },
  {
    name: "an event that is no JSON, or a document that is no completion, is a failure with a message that can be read",
    run: (subject) =>
      Effect.gen(function* () {
        const { error } = yield* ask(subject, Reply.behaviour("malformed_json"))
        yield* same("malformed", error?.code, "MALFORMED_RESPONSE")
        yield* holds("the message is too long", (error?.message.length ?? 9999) < 500)
        for (const body of [{ hello: 1 }, '{"choices":[{"mess', "<html>"]) {
          yield* same(`${body}`, ending(yield* ask(subject, Reply.http(200, { body }))), "INVALID_RESPONSE")
        }
      })
  }
]
