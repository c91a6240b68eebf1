import { assert, describe, it } from "@effect/vitest"
import { CallId } from "../src/Ids.ts"
import { neutral } from "../src/NeutralRequest.ts"
import { canonical, sameHeader } from "../src/Request.ts"
import type { EpochHeader, ToolSchema } from "../src/Request.ts"
import { answered, header, result, said } from "./support.ts"

const tool = (name: string, parameters = {}): ToolSchema => ({ name, description: `the ${name}`, parameters })

describe("Request", () => {
  describe("canonical", () => {
    it("leaves out what says nothing", () => {
      const said = canonical(header({ system: "", tools: [], adapterDefaults: {} }))
      assert.deepStrictEqual(said, header())
      assert.deepStrictEqual(Object.keys(said), ["config", "wire"])
    })

    it("keeps what says something, and is stable", () => {
      const full = header({
        system: " ",
        tools: [tool("read")],
        adapterDefaults: { maxTokens: true },
        config: { provider: "p", model: "m", maxTokens: 5 },
        wire: { format: "f", options: { beta: true } }
      })
      assert.deepStrictEqual(canonical(full), full)
      assert.deepStrictEqual(canonical(canonical(full)), full)
    })
  })

  describe("sameHeader", () => {
    const full: EpochHeader = header({
      config: { provider: "p", model: "m", temperature: 0, stop: ["a", "b"], reasoningEffort: "high", maxTokens: 9 },
      system: "s",
      tools: [tool("a", { type: "object", required: [] }), tool("b")],
      adapterDefaults: { maxTokens: true },
      wire: { format: "f", options: { a: 1, b: [2] } }
    })

    it("holds for a copy, whatever the order of its fields", () => {
      const copy: EpochHeader = {
        adapterDefaults: { maxTokens: true },
        wire: { options: { b: [2], a: 1 }, format: "f" },
        tools: [tool("a", { type: "object", required: [] }), tool("b")],
        system: "s",
        config: { maxTokens: 9, reasoningEffort: "high", stop: ["a", "b"], temperature: 0, model: "m", provider: "p" }
      }
      assert.isTrue(sameHeader(full, full))
      assert.isTrue(sameHeader(full, copy))
    })

    it("tells every field apart", () => {
      const others: ReadonlyArray<Partial<EpochHeader>> = [
        { config: { ...full.config, provider: "q" } },
        { config: { ...full.config, model: "n" } },
        { config: { ...full.config, temperature: 0.5 } },
        { config: { ...full.config, stop: ["b", "a"] } },
        { config: { ...full.config, reasoningEffort: "low" } },
        { config: { ...full.config, maxTokens: 10 } },
        { config: { provider: "p", model: "m" } },
        { system: "S" },
        { tools: [tool("b"), tool("a", { type: "object", required: [] })] },
        { tools: [tool("a", { required: [], type: "object" }), tool("b")] },
        { tools: [tool("a", { type: "object", required: [] })] },
        { adapterDefaults: { reasoningEffort: true } },
        { wire: { format: "g", options: { a: 1, b: [2] } } },
        { wire: { format: "f", options: { a: 1, b: [3] } } },
        { wire: { format: "f" } }
      ]
      for (const other of others) {
        assert.isFalse(sameHeader(full, { ...full, ...other }), JSON.stringify(other))
        assert.isFalse(sameHeader({ ...full, ...other }, full), JSON.stringify(other))
      }
      const { adapterDefaults: _, system: __, tools: ___, ...bare } = full
      assert.isFalse(sameHeader(full, bare))
    })
  })
})

describe("NeutralRequest", () => {
  const rendered = (more: Partial<EpochHeader>) => {
    const writer = neutral.open(header(more))
    return JSON.parse(`${writer.prefix}${writer.initial.join()}${writer.suffix}`)
  }

  it("writes configuration, system text and tools, and messages last", () => {
    const body = rendered({ config: { provider: "p", model: "m", stop: ["x"] }, system: "s", tools: [tool("read")] })
    assert.deepStrictEqual(body, {
      provider: "p",
      model: "m",
      stop: ["x"],
      system: "s",
      tools: [tool("read")],
      messages: []
    })
    assert.strictEqual(Object.keys(body).at(-1), "messages")
  })

  it("writes what the model is told of a message: role and content", () => {
    const { message } = neutral.open(header())
    assert.deepStrictEqual(message(said("m", "hello")), ['{"role":"user","content":[{"type":"text","text":"hello"}]}'])
    assert.deepStrictEqual(message(answered("a", { type: "tool-call", id: CallId("c"), name: "n", arguments: "{" })), [
      '{"role":"assistant","content":[{"type":"tool-call","id":"c","name":"n","arguments":"{"}]}'
    ])
    const [one, ...more] = message(result("r", "c", "no", true))
    assert.deepStrictEqual(JSON.parse(one!).content, result("r", "c", "no", true).content)
    assert.deepStrictEqual(more, [])
  })
})
