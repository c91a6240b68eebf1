// Images in the requests of a real agent: too many, too large, refused.
import { Agents } from "@dsh/agent/Agents"
import { LlmError } from "@dsh/llm/LlmError"
import { newHash } from "@dsh/llm/RequestDigest"
import * as LlmRetry from "@dsh/llm/LlmRetry"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import * as RequestInvariant from "@dsh/loop/RequestInvariant"
import type { ContentBlock, ImageBlock } from "@dsh/protocol/Block"
import { neutral } from "@dsh/protocol/NeutralRequest"
import { verify } from "@dsh/protocol/Verify"
import * as Invariants from "@dsh/session/Invariants"
import * as Tool from "@dsh/tools/Tool"
import * as Tools from "@dsh/tools/Tools"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import * as RequestImages from "../src/RequestImages.ts"

const image = (name: string, bytes = 100): ImageBlock => ({
  type: "image",
  attachment: { id: `sha256:${name}`, mediaType: "image/png", bytes, width: 4, height: 3 }
})

const look = Tool.make({
  name: "look",
  description: "Shows an image.",
  parameters: Schema.Struct({ name: Schema.String, bytes: Schema.optionalWith(Schema.Number, { exact: true }) }),
  output: Schema.String,
  execute: ({ name }) => Effect.succeed(name),
  render: ({ bytes, name }) => [{ type: "text", text: `${name}:` }, image(name, bytes)]
})

const world = (options: RequestImages.Options, script: ReadonlyArray<LlmScripted.Reply.Reply>) =>
  AgentLoop.layer.pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        RequestImages.layer(options),
        LlmRetry.layer,
        Tools.layerTool(look),
        Invariants.layer,
        RequestInvariant.layer
      )
    ),
    Layer.provideMerge(LlmScripted.layer(script)),
    Layer.provideMerge(Definitions.layer)
  )

const looks = (...names: ReadonlyArray<string>) =>
  LlmScripted.Reply.calls(names.map((name) => ({ name: "look", arguments: { name } })))
const done = LlmScripted.Reply.text("done")
const refuses = (message: string, fields: object = {}) =>
  LlmScripted.Reply.fail(new LlmError({ code: "INVALID_REQUEST", message, status: 400, ...fields }))

/** An agent that was told to go; the images of each request as the model saw them, and how it ended. */
const run = (
  script: ReadonlyArray<LlmScripted.Reply.Reply>,
  options: RequestImages.Options = {},
  input: ReadonlyArray<ContentBlock> = [{ type: "text", text: "go" }]
) =>
  Effect.gen(function* () {
    const agents = yield* Agents
    const agent = yield* agents.create({ provider: LlmScripted.provider, model: LlmScripted.model })
    const { reason } = yield* Effect.flatMap(agent.followup(input), agent.awaitTurn)
    const { requests } = yield* LlmScripted.Script
    // Every request is built again from the log alone, whatever was left out of it.
    for (const { problem } of verify(agent.session.range(0), () => neutral, newHash)) assert.isUndefined(problem)
    return {
      reason,
      seen: requests.map(({ messages }) => messages.flatMap(({ content }) => namesIn(content))),
      words: requests.map(({ messages }) => JSON.stringify(messages)),
      refused: Array.from(agent.session.range(0)).flatMap((event) =>
        event.type === "images/refused" ? [event.data.images] : []
      )
    }
  }).pipe(Effect.scoped, Effect.provide(world(options, script)))

const namesIn = (content: ReadonlyArray<ContentBlock>): ReadonlyArray<string> =>
  content.flatMap((block) => {
    if (block.type === "image") return [block.attachment.id.slice(7)]
    return block.type === "tool-result" ? namesIn(block.content) : []
  })

describe("images in requests", () => {
  it.scopedLive("older ones make room for newer ones, and that seldom", () =>
    Effect.gen(function* () {
      const { reason, seen, words } = yield* run([..."abcdef"].map((name) => looks(name)).concat(done), {
        maxImages: 4
      })
      assert.strictEqual(reason.kind, "completed")
      assert.deepStrictEqual(
        seen.map((names) => names.join("")),
        ["", "a", "ab", "abc", "abcd", "de", "def"]
      )
      assert.match(
        words[5] ?? "",
        /a:.*\[image sha256:a \(image\/png, 4x3\) left out: there are newer ones; look at it again if it is needed\]/
      )
    })
  )

  it.scopedLive("are kept within a number of bytes, and the newest is kept as long as it fits alone", () =>
    Effect.gen(function* () {
      const sized = (name: string, bytes: number) =>
        LlmScripted.Reply.calls([{ name: "look", arguments: { name, bytes } }])
      const { seen, words } = yield* run([sized("a", 400), sized("b", 900), sized("c", 2000), sized("d", 10), done], {
        maxBytes: 1000
      })
      assert.deepStrictEqual(
        seen.map((names) => names.join("")),
        ["", "a", "b", "", "d"]
      )
      assert.include(words[3] ?? "", "[image sha256:c (image/png, 4x3) left out: it is more than a request may hold]")
    })
  )

  it.scopedLive("those of the user count like any other", () =>
    Effect.gen(function* () {
      const { seen } = yield* run([looks("b", "c"), done], { maxImages: 2 }, [{ type: "text", text: "go" }, image("a")])
      assert.deepStrictEqual(
        seen.map((names) => names.join("")),
        ["a", "c"]
      )
    })
  )

  it.scopedLive(
    "a refused one is left out, the request is made once more, and the model and the log are told which",
    () =>
      Effect.gen(function* () {
        const { reason, refused, seen, words } = yield* run([
          looks("a"),
          looks("b"),
          refuses("messages.5: image exceeds 5 MB maximum"),
          done
        ])
        assert.strictEqual(reason.kind, "completed")
        // What was accepted before is not to blame.
        assert.deepStrictEqual(
          seen.map((names) => names.join("")),
          ["", "a", "ab", "a"]
        )
        assert.deepStrictEqual(refused, [["sha256:b (image/png, 4x3)"]])
        assert.include(
          words[3] ?? "",
          "[image sha256:b (image/png, 4x3) left out: the provider refused it: messages.5: image exceeds 5 MB maximum]"
        )
      })
  )

  it.scopedLive("of a session that is gone on with all are left out, if none is new", () =>
    Effect.gen(function* () {
      const { reason, seen } = yield* run([
        looks("a"),
        looks("b"),
        LlmScripted.Reply.calls([{ name: "nothing", arguments: {} }]),
        refuses("vision is not supported"),
        done
      ])
      assert.strictEqual(reason.kind, "completed")
      assert.deepStrictEqual(seen.map((names) => names.join("")).slice(-2), ["ab", ""])
    })
  )

  it.scopedLive("a request that is too large is one because of them", () =>
    Effect.gen(function* () {
      const { reason, seen } = yield* run([looks("a"), refuses("Payload Too Large", { status: 413 }), done])
      assert.strictEqual(reason.kind, "completed")
      assert.deepStrictEqual(
        seen.map((names) => names.join("")),
        ["", "a", ""]
      )
    })
  )

  it.scopedLive("a refusal that is not about them, or comes again, is a failure like any other", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<[script: ReadonlyArray<LlmScripted.Reply.Reply>, requests: number]> = [
        [[looks("a"), refuses("tools.0.name is invalid")], 2],
        [[refuses("image exceeds 5 MB maximum")], 1],
        [[looks("a"), refuses("bad image"), refuses("bad image")], 3],
        // What was accepted once is not given up for it.
        [[looks("a"), looks("b"), refuses("bad image"), refuses("bad image"), done], 4],
        [[looks("a"), refuses("an image server fell over", { code: "AUTH" })], 2]
      ]
      for (const [script, requests] of cases) {
        const { reason, seen } = yield* run(script)
        assert.strictEqual(reason.kind, "error")
        assert.strictEqual(seen.length, requests)
      }
    })
  )
})
