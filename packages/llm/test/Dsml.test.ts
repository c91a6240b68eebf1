import { Dsml, within } from "@dsh/llm/AnswerWriter/Dsml"
import { MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"

const tools = new Set(["bash"])

/** What an answer in these pieces comes to. */
const answer = (pieces: ReadonlyArray<string>, isQuoted = (_: string) => false) => {
  const dsml = new Dsml({ tools, isQuoted })
  let shown = ""
  for (const piece of pieces) shown += dsml.push(piece, shown)
  return { shown, ending: dsml.end() }
}

/** `text` in pieces that end at these places. */
const split = (text: string, places: ReadonlyArray<number>): ReadonlyArray<string> => {
  const edges = [...new Set([0, ...places.map((place) => place % (text.length + 1)), text.length])].toSorted(
    (a, b) => a - b
  )
  return edges.slice(1).map((to, i) => text.slice(edges[i], to))
}

const places = FastCheck.array(FastCheck.nat(5000), { maxLength: 30 })

const call =
  '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="bash">\n' +
  '<｜DSML｜parameter name="command" string="true">ls</｜DSML｜parameter>\n' +
  "</｜DSML｜invoke>\n</｜DSML｜tool_calls>"

describe("Dsml", () => {
  const innocent = FastCheck.oneof(
    FastCheck.string(),
    FastCheck.string({ unit: "binary", maxLength: 20 }),
    FastCheck.constantFrom(
      "<",
      "</",
      "<｜",
      "<|DSM",
      "<‖ DSML",
      "|DSML|",
      "<div>",
      "<tool",
      "<tool_call>",
      "</invoke>",
      "<invoke ",
      "```\n",
      "`",
      "\n",
      "    "
    )
  )

  it("passes any text without markup, byte for byte, however it is cut", () => {
    const isMarkup = /<\/?[|｜‖∥]{1,2} ?DSML ?[|｜‖∥]|<tool_calls>|<function_calls>|<invoke name="/i
    const texts = FastCheck.array(innocent, { maxLength: 30 }).map((parts) => parts.join(""))
    const property = FastCheck.property(
      texts.filter((text) => !isMarkup.test(text)),
      places,
      (text, at) => {
        const { ending, shown } = answer(split(text, at))
        assert.strictEqual(ending.kind, "text")
        assert.strictEqual(shown + (ending.kind === "text" ? ending.text : ""), text)
      }
    )
    FastCheck.assert(property, { numRuns: 500 })
  })

  it("comes to the same however it is cut, with markup in it", () => {
    const part = FastCheck.oneof(
      innocent,
      FastCheck.constantFrom(...call.split(/(?=<)|(?<=>)/), call, `\`\`\`\n${call}\n\`\`\`\n`, call.slice(0, 80))
    )
    const texts = FastCheck.array(part, { maxLength: 12 }).map((parts) => parts.join(""))
    const property = FastCheck.property(texts, places, (text, at) => {
      assert.deepStrictEqual(answer(split(text, at)), answer([text]))
      assert.deepStrictEqual(answer([...text]), answer([text]))
    })
    FastCheck.assert(property, { numRuns: 500 })
  })

  it("loses nothing but markup: what is not shown is calls or a leak", () => {
    const text = `before\n${call}`
    assert.deepStrictEqual(answer([...text]), {
      shown: "before\n",
      ending: { kind: "calls", calls: [{ name: "bash", arguments: '{"command":"ls"}' }] }
    })
    assert.deepStrictEqual(answer([`${text} and`, " more ", call]), {
      shown: `${text} and more `,
      ending: { kind: "calls", calls: [{ name: "bash", arguments: '{"command":"ls"}' }] }
    })
  })

  it("holds back the beginning of a tag until it is none", () => {
    const dsml = new Dsml({ tools, isQuoted: () => false })
    assert.deepStrictEqual(
      ["a<", "/", "｜", "DS", "M", "L", " x"].map((piece) => dsml.push(piece, "")),
      ["a", "", "", "", "", "", "</｜DSML x"]
    )
  })

  it("reads a fence that opened long ago, and one that has closed", () => {
    const fence = ["```xml\n", `${call}\n`, "```\n"]
    assert.strictEqual(answer(["text\n", ...fence]).shown, `text\n${fence.join("")}`)
    assert.strictEqual(answer([...fence, call]).ending.kind, "calls")
    assert.strictEqual(answer(["````\n```\n", call]).ending.kind, "text")
    assert.strictEqual(answer(["`a` and ``b`` \n", call]).ending.kind, "calls")
  })

  describe("a quotation", () => {
    const said = (...texts: ReadonlyArray<string>) => within(texts.map((text) => Message.user(MessageId("m"), text)))

    it("is markup of which every line stands in the conversation, in whatever spelling", () => {
      assert.isTrue(said("look", `1: ${call.replaceAll("｜", "|").replaceAll("\n", "\n2: ")}`)(`\n${call}\n`))
      assert.isFalse(said(call.replace("ls", "pwd"))(call))
      assert.isFalse(said()(call))
    })

    it("is text, whole", () => {
      assert.deepStrictEqual(answer([`a ${call}`], said(call)), {
        shown: "a ",
        ending: { kind: "text", text: call }
      })
    })
  })
})
