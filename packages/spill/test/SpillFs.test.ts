// Texts kept in a world that has no disk. Where sessions are confined, `SearchConfined.e2e.test.ts` of the file tools looks at them.
import { CallId, SessionId } from "@dsh/protocol/Ids"
import { CurrentConfinement } from "@dsh/world/Confinement"
import type { Confinement } from "@dsh/world/Confinement"
import { Fs } from "@dsh/world/Fs"
import * as FsMemory from "@dsh/world/FsMemory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { dirname } from "node:path"
import * as SpillFs from "../src/SpillFs.ts"
import { SpillStore } from "../src/SpillStore.ts"

const save = (content: string, session = "s-1") =>
  Effect.flatMap(SpillStore, (store) =>
    store.saveText({
      owner: { sessionId: SessionId(session) },
      source: { toolName: "bash", callId: CallId("c"), label: "result" },
      suggestedName: "../a b.txt",
      content
    })
  )

const read = (path: string) =>
  Effect.gen(function* () {
    const fs = yield* Fs
    return Buffer.from((yield* fs.readBytes(yield* fs.resolve(path, { cwd: "/" }))).bytes).toString()
  })

const inMemory = (files?: FsMemory.MemoryFiles, options?: SpillFs.Options) =>
  Layer.provideMerge(SpillFs.layer(options), FsMemory.layer(files))

const confined = (mode: Confinement["mode"]): Confinement => ({
  mode,
  workspace: "/ws",
  network: "on",
  temp: "/sessions/s-1",
  hidden: [],
  shown: []
})

describe("SpillFs", () => {
  it.effect("keeps texts where the tools find them, each once, those of every session apart", () =>
    Effect.gen(function* () {
      const { bytes, locator } = yield* save("ü text")
      assert.strictEqual(bytes, 7)
      assert.strictEqual(yield* read(locator), "ü text")
      assert.match(locator, /^\/tmp\/dsh-spill-[0-9a-f]{12}\/session-[0-9a-f]{12}\/[0-9a-f]{12}-\.\._a_b\.txt$/)
      assert.strictEqual((yield* save("ü text")).locator, locator)
      assert.strictEqual(dirname((yield* save("other")).locator), dirname(locator))
      assert.notStrictEqual(dirname((yield* save("ü text", "s-2")).locator), dirname(locator))
    }).pipe(Effect.provide(inMemory()))
  )

  it.effect("keeps those of a confined call in the folder of its session, by the name it has there", () =>
    Effect.gen(function* () {
      const inMode = (mode: Confinement["mode"]) =>
        Effect.provideService(save("text"), CurrentConfinement, confined(mode))
      assert.strictEqual(dirname((yield* inMode("danger-full-access")).locator), "/sessions/s-1")
      const seen = process.platform === "linux" ? "/tmp" : "/sessions/s-1"
      assert.strictEqual(dirname((yield* inMode("read-only")).locator), seen)
    }).pipe(Effect.provide(inMemory()))
  )

  it.effect("trusts nothing that is there already: not another text, not a link to nowhere, not a folder", () =>
    Effect.gen(function* () {
      const { locator } = yield* Effect.provide(save("text"), inMemory(undefined, { root: "/kept" }))
      const plants = [
        (files: FsMemory.MemoryFiles) => files.put(locator, Buffer.from("fake")),
        (files: FsMemory.MemoryFiles) => files.put(locator, Buffer.from("longer than the text is")),
        (files: FsMemory.MemoryFiles) => files.makeFolder(locator),
        (files: FsMemory.MemoryFiles) => files.makeLink(locator, locator)
      ]
      for (const plant of plants) {
        const files = new FsMemory.MemoryFiles()
        plant(files)
        yield* Effect.gen(function* () {
          const other = yield* save("text")
          assert.notStrictEqual(other.locator, locator)
          assert.strictEqual(yield* read(other.locator), "text")
        }).pipe(Effect.provide(inMemory(files, { root: "/kept" })))
      }
    })
  )

  it.effect("says what is in the way", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(save("text"))
      assert.strictEqual(error.code, "SPILL_FAILED")
      assert.include(error.message, "/kept")
    }).pipe(Effect.provide(inMemory(new FsMemory.MemoryFiles({ "/kept": "a file" }), { root: "/kept" })))
  )
})
