import * as Errors from "@dsh/llm/ChatCompletions/Errors"
import { assert, describe, it } from "@effect/vitest"

const endpoint: Errors.Endpoint = { name: "DeepSeek", url: "http://x", keyName: "THE_KEY", urlName: "THE_URL" }
const now = Date.parse("2026-01-01T00:00:00Z")

const refused = (status: number, body: unknown = "", headers: Record<string, string> = {}) =>
  Errors.refused(endpoint, {
    status,
    headers,
    now,
    body: typeof body === "string" ? body : JSON.stringify(body)
  })

const says = (message: string, fields: object = {}) => ({ error: { message, ...fields } })

describe("Errors", () => {
  it.each<readonly [number, unknown, string]>([
    [401, says("Authentication Fails"), "AUTH"],
    [403, "", "AUTH"],
    [402, says("Insufficient Balance"), "QUOTA"],
    [402, "", "QUOTA"],
    [429, says("You exceeded your current quota"), "QUOTA"],
    [429, says("slow down"), "RATE_LIMIT"],
    [413, says("payload too large"), "INVALID_REQUEST"],
    [400, says("unknown field"), "INVALID_REQUEST"],
    [422, says("bad schema"), "HTTP_422"],
    [404, says("no such model"), "HTTP_404"],
    [302, "", "HTTP_302"],
    [500, says("oops"), "SERVER"],
    [503, says("overloaded"), "SERVER"],
    [502, "<html><head><title>502 Bad Gateway</title></head></html>", "SERVER"]
  ])("%i %o is %s", (status, body, code) => {
    const error = refused(status, body)
    assert.strictEqual(error.code, code)
    assert.strictEqual(error.status, status)
  })

  it.each([
    "This model's maximum context length is 1048576 tokens. However, you requested 1174018 tokens (1042946 in the messages, 131072 in the completion)",
    "request (124071 tokens) exceeds the available context size",
    "prompt is too long",
    "Input is too long for the model",
    "The input exceeds the model's context window",
    "max supported context window is 8192"
  ])("overflow: %s", (message) => {
    assert.strictEqual(refused(400, says(message)).code, "CONTEXT_WINDOW_EXCEEDED")
    assert.strictEqual(Errors.inStream(endpoint, { message }, undefined).code, "CONTEXT_WINDOW_EXCEEDED")
  })

  it("overflow by code alone", () => {
    assert.strictEqual(refused(400, { error: { code: "context_length_exceeded" } }).code, "CONTEXT_WINDOW_EXCEEDED")
  })

  it.each<readonly [unknown, string]>([
    [{ message: "overloaded", type: "server_error" }, "SERVER"],
    [{ message: "Rate limit reached", type: "rate_limit_error" }, "RATE_LIMIT"],
    [{ message: "x", code: 429 }, "RATE_LIMIT"],
    [{ message: "x", code: 502 }, "SERVER"],
    [{ message: "x", type: "authentication_error" }, "AUTH"],
    [{ message: "x", type: "invalid_request_error" }, "INVALID_REQUEST"],
    [{ message: "out of credits" }, "QUOTA"],
    ["something", "SERVER"],
    [{}, "SERVER"]
  ])("in a stream, %o is %s", (error, code) => {
    assert.strictEqual(Errors.inStream(endpoint, error, "r1").code, code)
    assert.strictEqual(Errors.inStream(endpoint, error, "r1").requestId, "r1")
  })

  it("says what the provider said and what to do next", () => {
    assert.strictEqual(refused(401, says("Bad key.")).message, "Bad key; check the key in THE_KEY")
    assert.strictEqual(refused(418).message, "DeepSeek answered with status 418")
    assert.strictEqual(refused(429, says("slow"), { "retry-after": "2" }).message, "slow; DeepSeek asks to wait 2 s")
    const page = refused(502, "<html><head><title>502 Bad Gateway</title></head></html>")
    assert.strictEqual(page.message, 'a web page: "502 Bad Gateway"; retry in a while')
    assert.strictEqual(refused(500, { detail: "plain" }).message, "plain; retry in a while")
    assert.strictEqual(refused(500, '{"error": "text"}').message, "text; retry in a while")
    assert.isTrue(refused(500, says("x".repeat(5000))).message.length < 600)
  })

  it("keeps the request id", () => {
    assert.strictEqual(refused(500, "", { "x-request-id": "a", "x-deepseek-request-id": "b" }).requestId, "a")
    assert.strictEqual(refused(500, "", { "x-deepseek-request-id": "b" }).requestId, "b")
  })

  it.each<readonly [Record<string, string>, number | undefined]>([
    [{ "retry-after": "2" }, 2000],
    [{ "retry-after": "0" }, undefined],
    [{ "retry-after": "3600" }, 3_600_000],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, 30_000],
    [{ "retry-after": "Wed, 31 Dec 2025 23:59:00 GMT" }, undefined],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "-5" }, undefined],
    [{ "retry-after": "garbage 1" }, undefined],
    [{ "retry-after-ms": "150", "retry-after": "1" }, 150],
    [{}, undefined]
  ])("%o waits %s ms", (headers, expected) => {
    assert.strictEqual(Errors.retryAfterMs(headers, now), expected)
    assert.strictEqual(refused(503, "", headers).providerRetryAfterMs, expected)
  })

  it("explains a broken connection by its innermost known cause", () => {
    const cause = (code: string) => new Error("outer", { cause: Object.assign(new Error("inner"), { code }) })
    const message = (error: unknown) => Errors.transport(endpoint, error, false).message
    assert.strictEqual(
      message(cause("ECONNREFUSED")),
      "cannot reach http://x: connection refused; check the network and THE_URL"
    )
    assert.include(message(cause("SELF_SIGNED_CERT_IN_CHAIN")), "NODE_EXTRA_CA_CERTS")
    assert.include(message(cause("EWHATEVER")), "inner")
    assert.include(message("?"), "unknown reason")
    const secret = Errors.transport({ ...endpoint, url: "http://me:pw@host/v1" }, "?", true).message
    assert.include(secret, "the connection to http://host/v1 broke")
  })
})
