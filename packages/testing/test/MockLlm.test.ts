import * as ChatRequest from "@dsh/testing/ChatRequest"
import * as MockLlm from "@dsh/testing/MockLlm"
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import * as Client from "./support/Client.ts"

const serve = (...steps: ReadonlyArray<Script.Step>) => MockLlm.make({ script: Script.sequence(steps) })

const answer = (step: Script.Step, request: object = Client.request(), options?: Client.Call) =>
  Effect.gen(function* () {
    const server = yield* serve(step)
    return yield* Client.call(server.url, request, options)
  }).pipe(Effect.scoped)

const contents = (text: string) => Client.events(text).flatMap((e) => e.choices[0]?.delta.content ?? [])

describe("MockLlm", () => {
  describe("well-formed answers", () => {
    it.live("text and reasoning in deltas, finish, usage, [DONE]", () =>
      Effect.gen(function* () {
        const { headers, text } = yield* answer(
          Reply.text("Hello 🐋 there", {
            reasoning: ["so", " be it"],
            usage: { prompt_tokens: 3, completion_tokens: 2 }
          })
        )
        assert.strictEqual(headers["content-type"], "text/event-stream; charset=utf-8")
        assert.strictEqual(contents(text).join(""), "Hello 🐋 there")
        const events = Client.events(text)
        assert.deepStrictEqual<unknown>(events[0]?.choices[0]?.delta, { role: "assistant", content: "" })
        assert.deepStrictEqual<unknown>(events[1]?.choices[0]?.delta, { content: null, reasoning_content: "so" })
        assert.strictEqual(events.at(-2)?.choices[0]?.finish_reason, "stop")
        assert.deepStrictEqual(events.at(-1)?.choices, [])
        assert.deepStrictEqual(events.at(-1)?.usage, { prompt_tokens: 3, completion_tokens: 2 })
        assert.isTrue(Client.isDone(text))
      })
    )

    it.live("tool calls in fragments of one's choice", () =>
      Effect.gen(function* () {
        const { text } = yield* answer(
          Reply.toolCalls([
            { name: "read", arguments: { path: "a" }, fragments: 4 },
            { id: "mine", name: "bash", arguments: '{"broken', fragments: ['{"', "broken"] }
          ])
        )
        const deltas = Client.events(text).flatMap((e) => e.choices[0]?.delta.tool_calls ?? [])
        assert.deepStrictEqual(
          deltas.map((d) => [d.index, d.id, d.function.name, d.function.arguments]),
          [
            [0, "call_0_0", "read", ""],
            [0, undefined, undefined, '{"pa'],
            [0, undefined, undefined, 'th":'],
            [0, undefined, undefined, '"a"}'],
            [1, "mine", "bash", ""],
            [1, undefined, undefined, '{"'],
            [1, undefined, undefined, "broken"]
          ]
        )
        assert.strictEqual(Client.events(text).at(-2)?.choices[0]?.finish_reason, "tool_calls")
      })
    )

    it.live("usage on the finish, on every chunk, or nowhere", () =>
      Effect.gen(function* () {
        const usage = { prompt_tokens: 1 }
        const seen = (usageOn: "finish" | "every", value: Reply.Usage | null = usage) =>
          Effect.map(answer(Reply.text(["a", "b"], { usage: value, usageOn })), ({ text }) =>
            Client.events(text).map((e) => e.usage)
          )
        assert.deepStrictEqual(yield* seen("finish"), [null, null, null, usage])
        assert.deepStrictEqual(yield* seen("every"), [usage, usage, usage, usage])
        assert.deepStrictEqual(yield* seen("finish", null), [null, null, null, null])
      })
    )

    it.live("a request that asks for no stream gets one JSON document", () =>
      Effect.gen(function* () {
        const { headers, text } = yield* answer(
          Reply.message({ text: "hi", toolCalls: [{ name: "read", arguments: {} }] }),
          Client.request({ stream: false })
        )
        assert.strictEqual(headers["content-type"], "application/json")
        const [choice] = JSON.parse(text).choices
        assert.strictEqual(choice.message.content, "hi")
        assert.strictEqual(choice.message.tool_calls[0].function.arguments, "{}")
        assert.strictEqual(choice.finish_reason, "tool_calls")
      })
    )

    it.live("a reply may react to tool results", () =>
      Effect.gen(function* () {
        const server = yield* MockLlm.make({
          script: Script.respond((request) => {
            const results = ChatRequest.pendingResults(request)
            return results.length === 0
              ? Reply.toolCalls([{ id: "c1", name: "read", arguments: {} }])
              : Reply.text(results.map((r) => `${r.toolCallId}=${r.text}`))
          })
        })
        const call = { id: "c1", type: "function", function: { name: "read", arguments: "{}" } }
        const { text } = yield* Client.call(
          server.url,
          Client.request({
            messages: [
              { role: "user", content: "hi" },
              { role: "assistant", content: "", tool_calls: [call] },
              { role: "tool", tool_call_id: "c1", content: "42" }
            ]
          })
        )
        assert.strictEqual(contents(text).join(""), "c1=42")
      }).pipe(Effect.scoped)
    )
  })

  describe("raw answers", () => {
    it.live("bytes cut where asked arrive in separate reads", () =>
      Effect.gen(function* () {
        const body = "data: é\r\n\r\n"
        const whole = yield* answer(Reply.sse(body, { cuts: [3, 7] }))
        assert.strictEqual(whole.text, body)
        assert.strictEqual(whole.reads, 3)
        const bytes = yield* answer(Reply.sse(body, { cuts: "every-byte" }))
        assert.strictEqual(bytes.text, body)
        assert.strictEqual(bytes.reads, Buffer.byteLength(body))
      })
    )

    it.live("any status, header and body", () =>
      Effect.gen(function* () {
        const received = yield* answer(
          Reply.http(418, { headers: { "x-a": "b", "content-type": "text/html" }, body: "<p>" })
        )
        assert.strictEqual(received.status, 418)
        assert.strictEqual(received.headers["x-a"], "b")
        assert.strictEqual(received.headers["content-type"], "text/html")
        assert.strictEqual(received.text, "<p>")
      })
    )

    it.effect("pauses follow the clock", () =>
      Effect.gen(function* () {
        const server = yield* serve(Reply.text(["a", "b"], { delayMs: 50, paceMs: 1000, usage: null }))
        const fiber = yield* Effect.fork(Client.call(server.url, Client.request()))
        yield* server.awaitRequests(1)
        while ((yield* server.requests)[0]?.outcome === "open") {
          yield* TestClock.adjust("10 seconds")
          yield* Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void)))
        }
        const { text } = yield* Fiber.join(fiber)
        assert.deepStrictEqual(contents(text), ["", "a", "b"])
      }).pipe(Effect.scoped)
    )
  })

  describe("behaviours", () => {
    const seen = (name: Reply.BehaviourName, request?: object) => answer(Reply.behaviour(name), request)

    it.live("successes", () =>
      Effect.gen(function* () {
        assert.strictEqual(contents((yield* seen("success")).text).join(""), "Hello from the mock model.")
        const slow = yield* answer(Reply.behaviour("slow_success", { delayMs: 0, paceMs: 0 }))
        assert.isTrue(slow.text.startsWith(": keep-alive\n\n"))
        assert.include((yield* seen("reasoning_success")).text, "reasoning_content")
        assert.include((yield* seen("max_tokens")).text, '"finish_reason":"length"')
        const tools = { tools: [Client.readTool] }
        assert.include((yield* seen("tool_call_success", Client.request(tools))).text, '"name":"read"')
        assert.include((yield* seen("tool_call_success")).text, '"finish_reason":"stop"')
      })
    )

    it.live("broken streams", () =>
      Effect.gen(function* () {
        const reset = yield* seen("connection_reset")
        assert.deepStrictEqual([reset.status, reset.ended], [undefined, "reset"])
        const disconnect = yield* seen("stream_disconnect")
        assert.deepStrictEqual([disconnect.status, disconnect.ended, contents(disconnect.text)], [200, "reset", []])
        const partial = yield* seen("partial_disconnect")
        assert.strictEqual(partial.ended, "reset")
        assert.strictEqual(contents(partial.text).join(""), "Hello from the mock")
        const eof = yield* seen("stream_eof")
        assert.deepStrictEqual([eof.ended, contents(eof.text)], ["end", []])
        const partialEof = yield* seen("partial_eof")
        assert.strictEqual(partialEof.ended, "end")
        assert.notInclude(partialEof.text, "[DONE]")
        assert.include((yield* seen("empty")).text, "[DONE]")
        assert.strictEqual((yield* seen("empty_body")).text, "")
        const json = yield* seen("malformed_json")
        assert.throws(() => Client.events(json.text), SyntaxError)
        assert.isTrue(Client.isDone((yield* seen("malformed_event")).text))
      })
    )

    it.live("a stall lasts until the client gives up", () =>
      Effect.gen(function* () {
        const server = yield* serve(Reply.behaviour("stall"))
        const received = yield* Client.call(server.url, Client.request(), { hangUpAfter: 0 })
        assert.strictEqual(received.status, 200)
        const [entry] = yield* server.awaitClosedEarly(1)
        assert.strictEqual(entry?.outcome, "closed-early")
      }).pipe(Effect.scoped)
    )

    it.live("refusals", () =>
      Effect.gen(function* () {
        const status = (name: Reply.BehaviourName) => Effect.map(seen(name), (received) => received.status)
        assert.strictEqual(yield* status("rate_limit"), 429)
        assert.strictEqual((yield* seen("rate_limit")).headers["retry-after"], "1")
        assert.strictEqual(yield* status("server_error"), 500)
        assert.strictEqual(yield* status("service_unavailable"), 503)
        assert.strictEqual(yield* status("auth_error"), 401)
        assert.strictEqual(yield* status("invalid_request"), 400)
        assert.strictEqual(yield* status("context_overflow"), 400)
        assert.strictEqual(yield* status("quota_exceeded"), 402)
        const html = yield* seen("wrong_content_type")
        assert.deepStrictEqual([html.status, html.headers["content-type"]], [200, "text/html; charset=utf-8"])
      })
    )

    it.live("connection refused", () =>
      Effect.gen(function* () {
        const received = yield* Client.call(yield* MockLlm.refusedUrl, Client.request())
        assert.deepStrictEqual([received.status, received.ended], [undefined, "reset"])
      })
    )
  })

  describe("judgement", () => {
    it.live("a strict server names the first violations and does not spend a step", () =>
      Effect.gen(function* () {
        const server = yield* serve(Reply.text("ok"))
        const bad = yield* Client.call(server.url, Client.request({ messages: [{ role: "user", content: null }] }))
        assert.strictEqual(bad.status, 400)
        assert.include(JSON.parse(bad.text).error.message, "content-missing at $.messages[0].content")
        assert.strictEqual((yield* Client.call(server.url, "{")).status, 400)
        assert.strictEqual((yield* Client.call(server.url, Client.request())).status, 200)
        const [first] = yield* server.requests
        assert.deepStrictEqual(
          first?.violations.map(({ rule }) => rule),
          ["content-missing"]
        )
      }).pipe(Effect.scoped)
    )

    it.live("a lenient server answers anything", () =>
      Effect.gen(function* () {
        const server = yield* MockLlm.make({ strict: false })
        assert.strictEqual((yield* Client.call(server.url, Client.request({ messages: null }))).status, 200)
      }).pipe(Effect.scoped)
    )

    it.live("a key is asked for when one is set", () =>
      Effect.gen(function* () {
        const server = yield* MockLlm.make({ apiKey: "sk-1" })
        const status = (authorization: string) =>
          Effect.map(Client.call(server.url, Client.request(), { headers: { authorization } }), (r) => r.status)
        assert.strictEqual(yield* status("Bearer sk-2"), 401)
        assert.strictEqual(yield* status("Bearer sk-1"), 200)
      }).pipe(Effect.scoped)
    )

    it.live("a script that throws, or has ended, is an answer and not a silence", () =>
      Effect.gen(function* () {
        const thrown = yield* answer(() => {
          throw new Error("no idea")
        })
        assert.strictEqual(thrown.status, 500)
        assert.include(thrown.text, "no idea")
        const server = yield* serve()
        assert.include((yield* Client.call(server.url, Client.request())).text, "no step for request 0")
      }).pipe(Effect.scoped)
    )
  })

  describe("the record", () => {
    it.live("holds bytes, JSON, headers, path and outcome", () =>
      Effect.gen(function* () {
        const server = yield* serve(Reply.text("a"), Reply.reset)
        const waiting = yield* Effect.fork(server.awaitRequests(2))
        const body = Client.request({ extra: "é" })
        yield* Client.call(server.url, body, { path: "/v1/chat/completions?x=1", headers: { "X-Probe": "1" } })
        yield* Client.call(server.url, body)
        const [first, second] = yield* Fiber.join(waiting)
        assert.strictEqual(Buffer.from(first?.body ?? []).toString("utf8"), JSON.stringify(body))
        assert.deepStrictEqual(first?.json, body)
        assert.strictEqual(first?.path, "/v1/chat/completions")
        assert.strictEqual(first?.headers["x-probe"], "1")
        assert.strictEqual(first?.outcome, "completed")
        assert.deepStrictEqual(yield* Effect.map(server.requests, (all) => all.map((r) => r.outcome)), [
          "completed",
          "reset"
        ])
        assert.deepStrictEqual(second?.json, body)
        assert.deepStrictEqual(yield* server.closedEarly, [])
      }).pipe(Effect.scoped)
    )

    it.live("can do without bodies", () =>
      Effect.gen(function* () {
        const server = yield* MockLlm.make({ keepBodies: false })
        yield* Client.call(server.url, Client.request())
        const [entry] = yield* server.requests
        assert.strictEqual(entry?.body.length, 0)
        assert.isUndefined(entry?.json)
      }).pipe(Effect.scoped)
    )
  })

  it.live("lists its models and knows no other endpoint", () =>
    Effect.gen(function* () {
      const server = yield* MockLlm.make({ models: ["m1"] })
      const models = yield* Client.call(server.url, undefined, { method: "GET", path: "/v1/models" })
      assert.deepStrictEqual(
        JSON.parse(models.text).data.map((m: { id: string }) => m.id),
        ["m1"]
      )
      assert.strictEqual((yield* Client.call(server.url, undefined, { method: "GET", path: "/x" })).status, 404)
      assert.deepStrictEqual(yield* server.requests, [])
    }).pipe(Effect.scoped)
  )

  it.live("changes its script while it runs", () =>
    Effect.gen(function* () {
      const server = yield* serve(Reply.text("a"))
      yield* server.use(Script.sequence([Reply.text("b")]))
      assert.deepStrictEqual(contents((yield* Client.call(server.url, Client.request())).text), ["", "b"])
    }).pipe(Effect.scoped)
  )

  it.live("is a layer, too", () =>
    Effect.gen(function* () {
      const server = yield* MockLlm.MockLlm
      assert.strictEqual((yield* Client.call(server.url, Client.request())).status, 200)
    }).pipe(Effect.provide(MockLlm.layer()))
  )

  it.live("serves a thousand clients at once", () =>
    Effect.gen(function* () {
      const server = yield* MockLlm.make()
      const all = yield* Effect.all(
        Array.from({ length: 1000 }, () => Client.call(server.url, Client.request())),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(all.filter((r) => r.ended === "end" && Client.isDone(r.text)).length, 1000)
      assert.strictEqual((yield* server.requests).length, 1000)
    }).pipe(Effect.scoped)
  )

  it.live("a long answer waits for a slow reader and arrives whole", () =>
    Effect.gen(function* () {
      const deltas = Array.from({ length: 20_000 }, (_, i) => `${i} `)
      const { text } = yield* answer(Reply.text(deltas))
      assert.strictEqual(contents(text).join(""), deltas.join(""))
    })
  )
})
