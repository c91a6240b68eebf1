import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { createHash } from "node:crypto"
import * as Conversation from "../src/Conversation.ts"
import { neutral } from "../src/NeutralRequest.ts"
import type { EpochHeader, RequestFormat } from "../src/Request.ts"
import * as RequestBody from "../src/RequestBody.ts"
import { fold, header, makeLog, move, play } from "./support.ts"

const newHash = () => createHash("sha256")
const digest = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex")
const decode = (bytes: Uint8Array) => new TextDecoder("utf-8", { fatal: true }).decode(bytes)

/** A format in which a message may leave no fragment, one or two, and something comes before the first. */
const uneven: RequestFormat = {
  format: "uneven",
  of: "wire",
  open: ({ config, system }) => ({
    prefix: `{"model":${JSON.stringify(config.model)},"messages":[`,
    initial: system === undefined ? [] : [JSON.stringify({ system })],
    message: ({ content }) =>
      content.flatMap((block) => (block.type === "reasoning" || block.type === "text" ? [JSON.stringify(block)] : [])),
    suffix: `],"end":true}`
  })
}

const formats = new Map([neutral, uneven].map((format) => [format.format, format]))
const formatOf = (name: string): RequestFormat => {
  const found = formats.get(name)
  if (found === undefined) throw new Error(`no format ${name}`)
  return found
}
const make = () => RequestBody.make(formatOf, newHash)

/** The body of this header and these messages, rendered without any memory. */
const plainly = (head: EpochHeader, conversation: Conversation.Conversation): string => {
  const writer = formatOf(head.wire.format).open(head)
  const fragments = [...writer.initial, ...conversation.messages.flatMap(writer.message)]
  return `${writer.prefix}${fragments.join(",")}${writer.suffix}`
}

describe("RequestBody", () => {
  it("renders the prefix, the fragments with commas and the suffix, and their digest", () => {
    const log = makeLog()
    log.say("hé\n")
    log.answer("ok")
    const rendered = make().render(header({ system: "be brief" }), fold(log.events))
    const expected =
      '{"provider":"p","model":"m","system":"be brief","messages":[' +
      '{"role":"user","content":[{"type":"text","text":"hé\\n"}]},' +
      '{"role":"assistant","content":[{"type":"text","text":"ok"}]}]}'
    assert.strictEqual(decode(rendered.bytes), expected)
    assert.strictEqual(rendered.sha256, digest(expected))
    assert.strictEqual(rendered.of, "neutral")
  })

  it("renders an empty conversation", () => {
    const rendered = make().render(header(), Conversation.empty())
    assert.strictEqual(decode(rendered.bytes), '{"provider":"p","model":"m","messages":[]}')
  })

  it("asks for the fragments of a message once", () => {
    const asked: Array<number> = []
    const counting: RequestFormat = {
      ...neutral,
      open: (head) => {
        const writer = neutral.open(head)
        let n = 0
        return { ...writer, message: (message) => (asked.push(n++), writer.message(message)) }
      }
    }
    const body = RequestBody.make(() => counting, newHash)
    const log = makeLog()
    const conversation = Conversation.empty()
    const head = header()
    for (let i = 0; i < 5; i++) {
      conversation.apply(log.say(`${i}`))
      body.render(head, conversation)
      body.render(head, conversation)
    }
    assert.deepStrictEqual(asked, [0, 1, 2, 3, 4])
  })

  it("grows past its first memory", () => {
    const log = makeLog()
    const conversation = Conversation.empty()
    const body = make()
    const head = header()
    for (const size of [1, 16_000, 400, 50_000, 200_000]) {
      conversation.apply(log.say("€".repeat(size)))
      const rendered = body.render(head, conversation)
      assert.strictEqual(decode(rendered.bytes), plainly(head, conversation))
      assert.strictEqual(rendered.sha256, digest(rendered.bytes))
    }
  })

  it("starts over after a failed render, wherever it failed", () => {
    const log = makeLog()
    const conversation = Conversation.empty()
    const body = make()
    const head = header()
    conversation.apply(log.say("a"))
    conversation.apply(log.say("b"))
    body.render(head, conversation)
    conversation.apply(log.replace(0, 1, "c"))
    assert.throws(() => body.render(header({ wire: { format: "missing" } }), conversation), "no format missing")
    assert.strictEqual(decode(body.render(head, conversation).bytes), plainly(head, conversation))
  })

  const heads = [
    header(),
    header({ system: "be brief" }),
    header({ wire: { format: "uneven" } }),
    header({ wire: { format: "uneven" }, system: "be kind" })
  ]

  it.prop(
    "whatever happens in between, a kept body is the body rendered afresh, and its digest that of its bytes",
    [fc.array(fc.record({ move, head: fc.nat(heads.length - 1), changes: fc.boolean() }))],
    ([plays]) => {
      const log = makeLog()
      const conversation = Conversation.empty()
      const body = make()
      let head = heads[0]!
      for (const each of plays) {
        const from = log.events.length
        play(log, conversation.nodes, each.move)
        for (const added of log.events.slice(from)) conversation.apply(added)
        if (each.changes) head = heads[each.head]!
        const rendered = body.render(head, conversation)
        const expected = plainly(head, conversation)
        assert.strictEqual(decode(rendered.bytes), expected)
        assert.strictEqual(rendered.sha256, digest(expected))
        assert.doesNotThrow(() => JSON.parse(expected))
      }
    }
  )

  it.prop(
    "under one header the next body begins with all of the last one, up to its suffix",
    [fc.array(move), fc.constantFrom(...heads)],
    ([moves, head]) => {
      const log = makeLog()
      const conversation = Conversation.empty()
      const body = make()
      const suffix = formatOf(head.wire.format).open(head).suffix.length
      let before = body.render(head, conversation).bytes.slice()
      for (const made of moves) {
        const { generation } = conversation
        const from = log.events.length
        play(log, conversation.nodes, made)
        for (const added of log.events.slice(from)) conversation.apply(added)
        const now = body.render(head, conversation).bytes
        if (conversation.generation === generation) {
          const shared = before.length - suffix
          assert.strictEqual(Buffer.compare(before.subarray(0, shared), now.subarray(0, shared)), 0)
        }
        before = now.slice()
      }
    }
  )
})
