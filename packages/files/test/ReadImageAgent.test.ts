// An agent that looks at images, over real HTTP: what its model is sent, what its log keeps, and what another model makes of it.
import { Agents } from "@dsh/agent/Agents"
import { ModelSelection } from "@dsh/agent/ModelSelection"
import * as AttachmentsLocal from "@dsh/attachments/AttachmentsLocal"
import * as RequestImages from "@dsh/attachments/RequestImages"
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as ChatCompletions from "@dsh/llm/ChatCompletions"
import * as LlmOpenAiCompatible from "@dsh/llm/LlmOpenAiCompatible"
import * as LlmRetry from "@dsh/llm/LlmRetry"
import { newHash } from "@dsh/llm/RequestDigest"
import * as AgentLoop from "@dsh/loop/AgentLoop"
import * as Definitions from "@dsh/loop/Definitions"
import * as RequestInvariant from "@dsh/loop/RequestInvariant"
import { verify } from "@dsh/protocol/Verify"
import * as Invariants from "@dsh/session/Invariants"
import * as MockLlm from "@dsh/testing/MockLlm"
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import * as FsLocal from "@dsh/world/FsLocal"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as ObservedFiles from "../src/ObservedFiles.ts"
import * as ReadImageTool from "../src/ReadImageTool.ts"
import { picture } from "./images.ts"
import { folder } from "./support.ts"

const world = (url: string, root: string) =>
  AgentLoop.layer.pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        LlmOpenAiCompatible.layer({
          provider: "local",
          baseUrl: url,
          models: [{ id: "seeing", inputModalities: ["text", "image"] }, { id: "blind" }]
        }),
        LlmRetry.layer,
        ReadImageTool.layer,
        RequestImages.layer({ maxImages: 3 }),
        Invariants.layer,
        RequestInvariant.layer
      )
    ),
    Layer.provideMerge(
      Layer.mergeAll(AttachmentsLocal.layer({ root }), FsLocal.layer, ObservedFiles.layer, HttpClientNode.layer)
    ),
    Layer.provideMerge(Definitions.layer)
  )

const looks = (...names: ReadonlyArray<string>) =>
  Reply.toolCalls(names.map((name) => ({ name: "read_image", arguments: { file_path: name } })))

describe("an agent that looks at images", () => {
  it.scopedLive("is shown them, keeps references, and goes on when one is refused and with a model that is blind", () =>
    Effect.gen(function* () {
      const { at, dir, put } = yield* folder
      for (const [i, name] of ["a.png", "b.png", "c.png", "d.png"].entries()) put(name, picture(10 + i, 10).get_bytes())
      put("page.png", "<html>")
      const server = yield* MockLlm.make({
        script: Script.sequence([
          looks("a.png", "b.png", "page.png"),
          looks("c.png", "d.png"),
          Reply.error(400, { message: "image 3 could not be processed" }),
          Reply.text("done"),
          looks("a.png"),
          Reply.text("blind")
        ])
      })
      yield* Effect.gen(function* () {
        const agent = yield* (yield* Agents).create({ cwd: dir, provider: "local", model: "seeing" })
        const turn = (text: string) => Effect.flatMap(agent.followup(text), agent.awaitTurn)
        assert.strictEqual((yield* turn("look")).reason.kind, "completed")
        yield* (yield* ModelSelection).set(agent, { provider: "local", model: "blind" })
        assert.strictEqual((yield* turn("and again")).reason.kind, "completed")

        const events = [...agent.session.range(0)]
        const proofs = [...verify(events, () => ChatCompletions.format, newHash)]
        assert.deepStrictEqual(
          proofs.flatMap(({ problem }) => problem ?? []),
          []
        )
        assert.strictEqual(proofs.length, 6)
        assert.notInclude(JSON.stringify(events), "base64")
      }).pipe(Effect.scoped, Effect.provide(world(server.url, at("attachments"))))

      const bodies = (yield* server.requests).map(({ body }) => new TextDecoder().decode(body))
      const images = bodies.map((body) => body.match(/"data:image\/png;base64,/g)?.length ?? 0)
      // Two are shown; of four the older two make room for the newer ones, which the server refuses.
      assert.deepStrictEqual(images, [0, 2, 2, 0, 0, 0])
      assert.include(bodies[1] ?? "", "is HTML, which is not taken")
      assert.include(bodies[3] ?? "", "left out: the provider refused it: ")
      assert.include(bodies[3] ?? "", "image 3 could not be processed")
      assert.include(bodies[5] ?? "", "the model blind takes no images")
    })
  )
})
