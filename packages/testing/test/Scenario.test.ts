import * as MockLlm from "@dsh/testing/MockLlm"
import * as Reply from "@dsh/testing/Reply"
import * as Scenario from "@dsh/testing/Scenario"
import * as Script from "@dsh/testing/Script"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { FileSystem } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import * as Client from "./support/Client.ts"

const parse = (text: string, file = "s.json") => Either.getOrThrow(Scenario.parse(file, text))
const refuse = (text: string, file = "s.json") => Either.getOrThrow(Either.flip(Scenario.parse(file, text))).message

describe("Scenario", () => {
  it("reads every form of reply", () => {
    const scenario = parse(`{
      "strict": false, "apiKey": "k", "models": ["m"], "exhausted": "cycle",
      "replies": [
        "rate_limit",
        { "behaviour": "slow_success", "paceMs": 5 },
        { "text": "hi", "reasoning": ["a", "b"], "usage": null, "times": 2 },
        { "toolCalls": [{ "name": "read", "arguments": { "path": "x" }, "fragments": ["{", "}"] }] },
        { "frames": [{ "choices": [] }, "raw"], "done": false },
        { "sse": "data: x", "cuts": "every-byte", "ending": "hold" },
        { "status": 503, "headers": { "retry-after": "2" }, "body": { "a": 1 } }
      ]
    }`)
    assert.deepStrictEqual(scenario, {
      strict: false,
      apiKey: "k",
      models: ["m"],
      script: Script.sequence(
        [
          Reply.behaviour("rate_limit"),
          Reply.behaviour("slow_success", { paceMs: 5 }),
          Reply.text("hi", { reasoning: ["a", "b"], usage: null }),
          Reply.text("hi", { reasoning: ["a", "b"], usage: null }),
          Reply.toolCalls([{ name: "read", arguments: { path: "x" }, fragments: ["{", "}"] }]),
          Reply.frames([{ choices: [] }, "raw"], { done: false }),
          Reply.sse("data: x", { cuts: "every-byte", ending: "hold" }),
          Reply.http(503, { headers: { "retry-after": "2" }, body: { a: 1 } })
        ],
        "cycle"
      )
    })
  })

  it("reads arrays, lines, conversations and weights", () => {
    const expected = { script: Script.sequence([Reply.behaviour("success"), Reply.text("x")]) }
    assert.deepStrictEqual(parse(`["success", { "text": "x" }]`), expected)
    assert.deepStrictEqual(parse(`\uFEFF"success"\r\n\r\n{ "text": "x" }`, "s.jsonl"), expected)
    assert.deepStrictEqual(parse(`{ "by": "conversation", "replies": ["success"] }`).script._tag, "Conversation")
    assert.deepStrictEqual(parse(`{ "seed": 3, "weights": { "success": 1, "empty": 0 } }`), {
      script: Script.weighted(3, { success: 1 })
    })
  })

  it("names file, line and path of what is wrong", () => {
    assert.match(refuse(`[\n  "success",\n  { "text": 3 }\n]`), /^s\.json:3: \$\[1\]\.text: Expected /)
    assert.match(
      refuse(`{ "replies": [\n { "toolCalls": [\n { "name": "x" } ] } ] }`),
      /^s\.json:3: \$\.replies\[0\]\.toolCalls\[0\]/
    )
    assert.match(refuse(`[\n  "sucess"\n]`), /^s\.json:2: \$\[0\]: Expected "success"/)
    assert.match(refuse(`[\n  { "txt": "a" }\n]`), /^s\.json:2: \$\[0\]\.txt: .*unexpected/)
    assert.match(refuse(`"success"\n\n{ "text": true }`, "s.jsonl"), /^s\.jsonl:3: \$\[1\]\.text: Expected /)
    assert.match(refuse(`"success"\n{ "text": `, "s.jsonl"), /^s\.jsonl:2: .*JSON/)
    assert.match(refuse(`[\n  "success"\n`), /^s\.json:\d: .*\]/)
    assert.match(refuse(`[7]`), /^s\.json:1: \$\[0\]: a reply must be/)
    assert.match(refuse(`[]`), /at least one reply/)
    assert.match(refuse(`{ "weights": { "success": 0 } }`), /greater than 0/)
    assert.match(refuse(`{ "weights": { "success": 1 }, "replies": ["success"] }`), /either/)
    assert.match(refuse(`{}`), /needs "replies" or "weights"/)
  })

  it.scoped("serves a file", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped()}/scenario.jsonl`
      yield* fs.writeFileString(file, `{ "text": "from a file" }\n`)
      const server = yield* Scenario.serveCommand({ scenario: file })
      const received = yield* Client.call(server.url, Client.request())
      assert.include(received.text, '"content":"from"')
      assert.strictEqual((yield* server.requests).length, 1)
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.scoped("fails for a file that is not there and for a port that is taken", () =>
    Effect.gen(function* () {
      const missing = yield* Effect.flip(Scenario.serveCommand({ scenario: "/nowhere/s.json" }))
      assert.strictEqual(missing.code, "SCENARIO_UNREADABLE")
      assert.include(missing.message, "/nowhere/s.json")
      const first = yield* MockLlm.make()
      const taken = yield* Effect.flip(Scenario.serveCommand({ port: first.port }))
      assert.strictEqual(taken.code, "LISTEN_FAILED")
      assert.include(taken.message, `127.0.0.1:${first.port}`)
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )
})
