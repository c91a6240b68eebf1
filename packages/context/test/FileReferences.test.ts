// Completion of paths, and what the model is told of them.
import * as Tools from "@dsh/tools/Tools"
import { ToolResult } from "@dsh/tools/ToolHooks"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as FsLocal from "@dsh/world/FsLocal"
import * as NodeFs from "node:fs"
import { FileReferences } from "../src/FileReferences.ts"
import * as FileReferencesLocal from "../src/FileReferencesLocal.ts"
import * as FileReferencesPrompt from "../src/FileReferencesPrompt.ts"
import { ask, call, folder, make, Reply, world } from "./support.ts"

const local = (more: FileReferencesLocal.Options = {}) =>
  FileReferencesLocal.layer({ maxResults: 5, ...more }).pipe(
    Layer.provideMerge(Layer.merge(FsLocal.layer, Layer.sync(ToolResult, ToolResult.make)))
  )

const paths = (query: string, workspace: string) =>
  Effect.gen(function* () {
    const references = yield* FileReferences
    return (yield* references.complete(query, workspace)).map(({ path }) => path)
  })

describe("FileReferences", () => {
  it.scopedLive("finds by what is typed of a path, near the top first, and leaves out what nobody means", () =>
    Effect.gen(function* () {
      const { at, dir, put } = yield* folder
      for (const name of [
        "src/Main.ts",
        "src/deep/Manual.md",
        "README.md",
        ".git/main",
        "node_modules/main/index.js"
      ]) {
        put(name, "")
      }
      NodeFs.symlinkSync(dir, at("src/loop"))
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* paths("", dir), ["README.md", "src/"])
        assert.deepStrictEqual(yield* paths("main", dir), ["src/Main.ts"])
        assert.deepStrictEqual((yield* paths("sman", dir)).toSorted(), ["src/Main.ts", "src/deep/Manual.md"])
        assert.deepStrictEqual(yield* paths("src/", dir), ["src/Main.ts", "src/deep/", "src/loop"])
        assert.deepStrictEqual(yield* paths("src/deep/m", dir), ["src/deep/Manual.md"])
        assert.deepStrictEqual(yield* paths("nowhere/", dir), [])
        assert.deepStrictEqual(yield* paths("README.md/x", dir), [])
      }).pipe(Effect.provide(local()))
    })
  )

  it.scopedLive("holds no more than it may, and gives no more than is asked for", () =>
    Effect.gen(function* () {
      const { dir, put } = yield* folder
      for (let i = 0; i < 30; i++) put(`d${i % 3}/file${i}`, "")
      yield* Effect.gen(function* () {
        assert.lengthOf(yield* paths("file", dir), 5)
      }).pipe(Effect.provide(local()))
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* paths("file", dir), ["d0/file0"])
      }).pipe(Effect.provide(local({ maxEntries: 4 })))
    })
  )

  it.scopedLive("looks again once a tool has done something", () =>
    Effect.gen(function* () {
      const { dir, put } = yield* folder
      put("one", "")
      const script = [call("write", { file_path: "another", content: "" }), Reply.text("ok")]
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* paths("an", dir), [])
        put("answer", "")
        assert.deepStrictEqual(yield* paths("an", dir), [])
        yield* ask(yield* make(dir), "write something")
        assert.deepStrictEqual((yield* paths("an", dir)).toSorted(), ["another", "answer"])
      }).pipe(Effect.provide(Layer.provideMerge(FileReferencesLocal.layer(), world(script, Layer.empty))))
    })
  )
})

describe("FileReferencesPrompt", () => {
  const system = (setup: Layer.Layer<never, Tools.ToolRegistrationError, Tools.Tools>) =>
    Effect.gen(function* () {
      const { dir } = yield* folder
      return yield* Effect.gen(function* () {
        const agent = yield* make(dir, setup)
        yield* ask(agent, "hello")
        return agent.session.conversation.header?.system ?? ""
      }).pipe(Effect.provide(world([Reply.text("ok")], FileReferencesPrompt.layer)))
    })

  const blind = Layer.scopedDiscard(Effect.flatMap(Tools.Tools, (tools) => tools.restrict({ deny: ["read"] })))

  it.scopedLive("is told to who can read, and to nobody else", () =>
    Effect.gen(function* () {
      assert.include(yield* system(Layer.empty), "A path behind an @")
      assert.notInclude(yield* system(blind), "A path behind an @")
    })
  )
})
