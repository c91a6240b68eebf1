import { AnswerWriter } from "@dsh/llm/AnswerWriter"
import { Decoder } from "@dsh/llm/ChatCompletions/Decode"
import * as Usage from "@dsh/llm/ChatCompletions/Usage"
import { LlmError } from "@dsh/llm/LlmError"
import * as BlockAssembler from "@dsh/protocol/BlockAssembler"
import type { StreamChunk } from "@dsh/protocol/StreamChunk"
import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck } from "effect"

const error = (code: string) => new LlmError({ code, message: code })

const decoder = (taken: ReadonlyArray<string> = []) => {
  let minted = 0
  const writer = new AnswerWriter({
    isTaken: (id) => taken.includes(id),
    mint: () => `m${++minted}`,
    tools: new Set(),
    isQuoted: () => false
  })
  return new Decoder(writer, { failure: () => error("FRAME"), malformed: () => error("MALFORMED_RESPONSE") })
}

const decode = (events: ReadonlyArray<unknown>, taken?: ReadonlyArray<string>) => {
  const self = decoder(taken)
  for (const event of events) self.push(typeof event === "string" ? event : JSON.stringify(event))
  if (self.failure === undefined) self.complete()
  const chunks = self.take()
  return { chunks, failure: self.failure?.code, message: assemble(chunks) }
}

const assemble = (chunks: ReadonlyArray<StreamChunk>) => {
  const assembler = BlockAssembler.make()
  for (const chunk of chunks) assembler.push(chunk)
  return Either.getOrThrow(assembler.assemble())
}

const delta = (fields: unknown, finish?: unknown) => ({ choices: [{ index: 0, delta: fields, finish_reason: finish }] })
const call = (fields: object) => delta({ tool_calls: [fields] })
const calls = (events: ReadonlyArray<unknown>, taken?: ReadonlyArray<string>) =>
  decode(events, taken).message.blocks.flatMap((b) =>
    b.type === "tool-call" ? [[b.id as string, b.name, b.arguments]] : []
  )

describe("Decoder", () => {
  it("emits blocks in order of appearance, then usage, then finish", () => {
    const { chunks } = decode([
      delta({ role: "assistant", content: "", reasoning_content: "" }),
      delta({ reasoning_content: "th" }),
      delta({ reasoning_content: "ink", content: null }),
      delta({ content: "he" }),
      delta({ content: "y" }),
      { ...call({ index: 0, id: "c1", function: { name: "read", arguments: "" } }) },
      call({ index: 0, function: { arguments: "{}" } }),
      delta({}, "tool_calls"),
      { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } },
      "[DONE]"
    ])
    assert.deepStrictEqual(chunks, [
      { type: "block-start", index: 0, blockType: "reasoning" },
      { type: "reasoning-delta", index: 0, text: "th" },
      { type: "reasoning-delta", index: 0, text: "ink" },
      { type: "block-start", index: 1, blockType: "text" },
      { type: "text-delta", index: 1, text: "he" },
      { type: "text-delta", index: 1, text: "y" },
      { type: "block-start", index: 2, blockType: "tool-call" },
      { type: "tool-call-delta", index: 2, id: "c1", name: "read", argumentsDelta: "" },
      { type: "tool-call-delta", index: 2, id: "c1", argumentsDelta: "{}" },
      { type: "block-end", index: 0, block: { type: "reasoning", text: "think" } },
      { type: "block-end", index: 1, block: { type: "text", text: "hey" } },
      { type: "block-end", index: 2, block: { type: "tool-call", id: "c1", name: "read", arguments: "{}" } },
      { type: "usage", usage: { inputTokens: 3, outputTokens: 2 } },
      { type: "finish", reason: { kind: "tool-calls" } }
    ] as unknown as ReadonlyArray<StreamChunk>)
  })

  it("drops what does not fit and keeps the rest", () => {
    const { failure, message } = decode([
      "42",
      '"text"',
      "null",
      "[]",
      "",
      " : OPENROUTER PROCESSING",
      { choices: "none", usage: 7 },
      { choices: [null] },
      { choices: [{ delta: null }] },
      { choices: [{ delta: "x" }] },
      { error: null, choices: [{ delta: { content: 7, reasoning_content: {}, tool_calls: "no" }, finish_reason: "" }] },
      {
        choices: [
          { index: 1, delta: { content: "another answer" } },
          { index: 0, delta: { content: "a" } }
        ]
      },
      {
        id: 7,
        extra: {},
        choices: [{ delta: { content: "b", tool_calls: [null, 3, {}] }, finish_reason: null }],
        usage: null
      },
      delta({ content: [{ type: "text", text: "c" }, 3] }),
      delta({ reasoning: "r" }),
      "[DONE]",
      delta({ content: "after the end" })
    ])
    assert.isUndefined(failure)
    assert.deepStrictEqual(message.blocks, [
      { type: "text", text: "abc" },
      { type: "reasoning", text: "r" }
    ])
    assert.deepStrictEqual(message.finish, { kind: "stop" })
  })

  it("refuses an event that is not JSON, and takes several that stand on lines of one", () => {
    assert.strictEqual(decode([delta({ content: "a" }), '{"choices":[{"del']).failure, "MALFORMED_RESPONSE")
    const lines = [JSON.stringify(delta({ content: "a" })), JSON.stringify(delta({ content: "b" })), "[DONE]"].join(
      "\n"
    )
    assert.deepStrictEqual(decode([lines]).message.blocks, [{ type: "text", text: "ab" }])
  })

  it("stops at an error event", () => {
    for (const event of [
      { error: { message: "overloaded" } },
      { error: "overloaded" },
      { object: "error", message: "x" },
      { type: "error", message: "x" }
    ]) {
      const { chunks, failure } = decode([delta({ content: "a" }), event, delta({ content: "b" })])
      assert.strictEqual(failure, "FRAME")
      assert.strictEqual(chunks.length, 2)
    }
  })

  it("reads the message of an answer that did not stream", () => {
    const { message } = decode([
      {
        choices: [
          {
            message: {
              content: "a",
              reasoning_content: "r",
              tool_calls: [{ id: "c", function: { name: "n", arguments: "{}" } }]
            },
            finish_reason: "tool_calls"
          }
        ],
        usage: { prompt_tokens: 1, completion_tokens: 1 }
      }
    ])
    assert.deepStrictEqual(
      message.blocks.map((b) => b.type),
      ["reasoning", "text", "tool-call"]
    )
    assert.deepStrictEqual(message.finish, { kind: "tool-calls" })
  })

  describe("finish", () => {
    const finish = (events: ReadonlyArray<unknown>) => {
      const { reason } = decode(events).chunks.at(-1) as Extract<StreamChunk, { type: "finish" }>
      return reason.kind === "error" ? reason.failure.code : reason.kind
    }
    const said = delta({ content: "a" })
    const asked = call({ index: 0, id: "c", function: { name: "n", arguments: "{}" } })

    it.each<readonly [string, ReadonlyArray<unknown>, string]>([
      ["stop", [said, delta({}, "stop")], "stop"],
      ["no reason", [said], "stop"],
      ["an empty reason", [said, delta({}, "")], "stop"],
      ["the last of several", [said, delta({}, "length"), delta({}, "stop")], "stop"],
      ["length", [said, delta({}, "length")], "max-tokens"],
      ["length without anything", [delta({}, "length")], "max-tokens"],
      ["tool calls", [asked, delta({}, "tool_calls")], "tool-calls"],
      ["calls that end with stop", [asked, delta({}, "stop")], "tool-calls"],
      ["tool_calls without calls", [said, delta({}, "tool_calls")], "stop"],
      ["a filter", [said, delta({}, "content_filter")], "CONTENT_FILTER"],
      ["no capacity", [said, delta({}, "insufficient_system_resource")], "INSUFFICIENT_SYSTEM_RESOURCE"],
      ["an unknown reason", [said, delta({}, "bad luck")], "BAD_LUCK"],
      ["nothing at all", [], "EMPTY_RESPONSE"],
      ["stop without anything", [delta({}, "stop")], "EMPTY_RESPONSE"],
      ["only reasoning", [delta({ reasoning_content: "r" }), delta({}, "stop")], "EMPTY_RESPONSE"],
      ["only white space", [delta({ content: "\n" }), delta({}, "stop")], "stop"]
    ])("%s", (_, events, expected) => {
      assert.strictEqual(finish(events), expected)
    })
  })

  describe("tool calls", () => {
    it("in parallel, by index", () => {
      assert.deepStrictEqual(
        calls([
          call({ index: 0, id: "a", function: { name: "x", arguments: "" } }),
          call({ index: 1, id: "b", function: { name: "y", arguments: "" } }),
          call({ index: 1, function: { arguments: '{"q":' } }),
          call({ index: 0, function: { arguments: "{}" } }),
          call({ index: 1, function: { arguments: "1}" } })
        ]),
        [
          ["a", "x", "{}"],
          ["b", "y", '{"q":1}']
        ]
      )
    })

    it("without index: a new id opens a call, a delta without id continues the last", () => {
      assert.deepStrictEqual(
        calls([
          call({ id: "a", function: { name: "x" } }),
          call({ function: { arguments: '{"q"' } }),
          call({ id: null, function: { name: null, arguments: ":1}" } }),
          call({ id: "b", function: { name: "y", arguments: null } }),
          call({ id: "", function: { arguments: "{}" } })
        ]),
        [
          ["a", "x", '{"q":1}'],
          ["b", "y", "{}"]
        ]
      )
    })

    it("with and without index in one stream", () => {
      assert.deepStrictEqual(
        calls([
          call({ index: 0, id: "a", function: { name: "x", arguments: "{" } }),
          call({ id: "b", function: { name: "y", arguments: "{" } }),
          call({ index: 1, function: { arguments: '"b":1}' } }),
          call({ index: 0, function: { arguments: '"a":1}' } }),
          call({ index: "1", function: { arguments: " " } })
        ]),
        [
          ["a", "x", '{"a":1}'],
          ["b", "y", '{"b":1} ']
        ]
      )
    })

    it("without id: one is made, once; no call for an index that never came", () => {
      for (const id of [undefined, null, ""]) {
        assert.deepStrictEqual(
          calls([
            call({ index: 7, id, function: { name: "x", arguments: "" } }),
            call({ index: 7, id, function: { arguments: "{}" } }),
            call({ index: 8, id, function: { name: "y", arguments: "{}" } })
          ]),
          [
            ["call_m1", "x", "{}"],
            ["call_m2", "y", "{}"]
          ]
        )
      }
    })

    it("keeps the id it made when the provider's comes late", () => {
      assert.deepStrictEqual(
        calls([
          call({ index: 0, function: { name: "x", arguments: "" } }),
          call({ index: 0, id: "late", function: { arguments: "{" } }),
          call({ id: "late", function: { arguments: "}" } })
        ]),
        [["call_m1", "x", "{}"]]
      )
    })

    it("all numbered zero, told apart by id and name", () => {
      assert.deepStrictEqual(
        calls([
          call({ index: 0, id: "a", function: { name: "x", arguments: "{}" } }),
          call({ index: 0, id: "b", function: { name: "x", arguments: "{" } }),
          call({ index: 0, function: { arguments: "}" } })
        ]),
        [
          ["a", "x", "{}"],
          ["b", "x", "{}"]
        ]
      )
    })

    it("whole calls with neither id nor index", () => {
      assert.deepStrictEqual(
        calls([
          call({ function: { name: "x", arguments: { q: 1 } } }),
          call({ function: { name: "x", arguments: "{}" } })
        ]),
        [
          ["call_m1", "x", '{"q":1}'],
          ["call_m2", "x", "{}"]
        ]
      )
    })

    it("a name that is repeated with every delta", () => {
      assert.deepStrictEqual(
        calls([
          call({ index: 0, function: { name: "x", arguments: '{"q"' } }),
          call({ index: 0, function: { name: "x", arguments: ":1}" } }),
          call({ index: 0, function: { name: "x", arguments: "" } })
        ]),
        [["call_m1", "x", '{"q":1}']]
      )
    })

    it("an id that only changes is the same call", () => {
      assert.deepStrictEqual(
        calls([
          call({ index: 0, id: "a1", function: { name: "x", arguments: "{" } }),
          call({ index: 0, id: "a2", function: { arguments: "}" } })
        ]),
        [["a1", "x", "{}"]]
      )
    })

    it("an id that the session already uses is replaced; a number is an id", () => {
      const events = [call({ index: 0, id: 0, function: { name: "x", arguments: "{}" } })]
      assert.deepStrictEqual(calls(events), [["0", "x", "{}"]])
      assert.deepStrictEqual(calls(events, ["0"]), [["call_m1", "x", "{}"]])
    })

    it("arguments that stop half way stay as they are", () => {
      assert.deepStrictEqual(
        calls([call({ index: 0, id: "a", function: { name: "x", arguments: '{"content":"a' } })]),
        [["a", "x", '{"content":"a']]
      )
    })
  })

  it("is not misled by a field that looks like the text", () => {
    const event = (content: string) => ({ content: "decoy", choices: [{ delta: { content }, content: "decoy" }] })
    const { message } = decode(["a", "b", "b", "b", "c", "c"].map(event))
    assert.deepStrictEqual(message.blocks, [{ type: "text", text: "abbbcc" }])
  })

  // The decoder reads repeating frames without parsing them; it must not be possible to tell.
  it("decodes the same text whatever the frames and the pieces look like", () => {
    const piece = FastCheck.oneof(
      FastCheck.string(),
      FastCheck.string({ unit: "binary", maxLength: 30 }),
      FastCheck.constantFrom(
        "",
        '"',
        "\\",
        '\\"',
        '","content":"x',
        "}]}",
        "ab\\",
        "\n",
        '"content":',
        "[DONE]",
        "\ud83d",
        "\udc0b",
        'long piece with "quotes" in it'
      )
    )
    const frame = FastCheck.constantFrom(
      (d: object) => ({ id: "x", choices: [{ index: 0, delta: d, finish_reason: null }], usage: null }),
      (d: object) => ({ choices: [{ delta: { note: '"content":"a"', ...d } }] }),
      (d: object) => ({ created: 1, content: "decoy", choices: [{ delta: d, content: "decoy" }] }),
      (d: object) => ({ choices: [{ delta: { role: "assistant", reasoning_content: null, content: null, ...d } }] })
    )
    const kind = FastCheck.constantFrom("content", "reasoning_content", "reasoning")
    const property = FastCheck.property(
      frame,
      FastCheck.array(FastCheck.tuple(kind, piece), { maxLength: 40 }),
      (wrap, pieces) => {
        const { message } = decode(pieces.map(([key, text]) => wrap({ [key]: text })))
        const expected = (...keys: ReadonlyArray<string>) =>
          pieces.flatMap(([key, text]) => (keys.includes(key) ? text : [])).join("")
        const got = (type: string) =>
          message.blocks.flatMap((b) => (b.type === type && "text" in b ? b.text : [])).join("")
        assert.strictEqual(got("text"), expected("content"))
        assert.strictEqual(got("reasoning"), expected("reasoning_content", "reasoning"))
      }
    )
    FastCheck.assert(property, { numRuns: 150 })
  })
})

describe("Usage", () => {
  const buckets = { inputTokens: 80, outputTokens: 10, cacheReadTokens: 20, reasoningTokens: 6 }
  const common = { prompt_tokens: 100, completion_tokens: 10, completion_tokens_details: { reasoning_tokens: 6 } }

  it.each<readonly [string, unknown, unknown]>([
    ["DeepSeek", { ...common, prompt_cache_hit_tokens: 20, prompt_cache_miss_tokens: 80 }, buckets],
    ["OpenAI", { ...common, prompt_tokens_details: { cached_tokens: 20 } }, buckets],
    [
      "both",
      {
        ...common,
        prompt_cache_hit_tokens: 20,
        prompt_cache_miss_tokens: 80,
        prompt_tokens_details: { cached_tokens: 20 }
      },
      buckets
    ],
    ["neither", { prompt_tokens: 100, completion_tokens: 10 }, { inputTokens: 100, outputTokens: 10 }],
    [
      "no total",
      { prompt_cache_hit_tokens: 20, prompt_cache_miss_tokens: 80, completion_tokens: 1 },
      { inputTokens: 80, outputTokens: 1, cacheReadTokens: 20 }
    ],
    [
      "nulls",
      { prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: null, prompt_cache_hit_tokens: null },
      { inputTokens: 5, outputTokens: 1 }
    ],
    ["nonsense", { prompt_tokens: "5", completion_tokens: -1 }, undefined],
    ["nothing", {}, undefined],
    ["null", null, undefined]
  ])("%s", (_, raw, expected) => {
    assert.deepStrictEqual(Usage.parse(raw), expected)
  })

  it("repeated in every event counts once, the last", () => {
    const { chunks } = decode([
      { choices: [{ delta: { content: "a" } }], usage: { prompt_tokens: 1, completion_tokens: 1 } },
      { choices: [{ delta: { content: "b" } }], usage: { prompt_tokens: 1, completion_tokens: 2 } }
    ])
    assert.deepStrictEqual(
      chunks.filter((c) => c.type === "usage"),
      [{ type: "usage", usage: { inputTokens: 1, outputTokens: 2 } }]
    )
  })
})
