import { CallId, SessionId } from "@dsh/protocol/Ids"
import type { Confinement } from "@dsh/world/Confinement"
import { CurrentConfinement } from "@dsh/world/Confinement"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as SpillLocal from "../src/SpillLocal.ts"
import { SpillStore } from "../src/SpillStore.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "dsh-test-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const save = (content: string, suggestedName = "bash.txt", session = "s-1") =>
  Effect.flatMap(SpillStore, (store) =>
    store.saveText({
      owner: { sessionId: SessionId(session) },
      source: { toolName: "bash", callId: CallId("c"), label: "result" },
      suggestedName,
      content
    })
  )

const confined = (temp: string, mode: Confinement["mode"]): Confinement => ({
  mode,
  workspace: "/ws",
  network: "on",
  temp,
  hidden: [],
  shown: []
})

describe("SpillLocal", () => {
  it.scopedLive("keeps texts in a private folder per session, which goes with it", () =>
    Effect.gen(function* () {
      const place = yield* Effect.gen(function* () {
        const { bytes, locator } = yield* save("ü text", "../a b.txt")
        assert.strictEqual(bytes, 7)
        assert.strictEqual(readFileSync(locator, "utf8"), "ü text")
        assert.match(locator, /\/dsh-spill-[^/]+\/session-[0-9a-f]{12}\/[0-9a-f]{12}-\.\._a_b\.txt$/)
        assert.strictEqual(statSync(locator).mode & 0o777, 0o600)
        assert.strictEqual(statSync(dirname(locator)).mode & 0o777, 0o700)
        assert.strictEqual((yield* save("ü text", "../a b.txt")).locator, locator)
        assert.notStrictEqual(dirname((yield* save("ü text", "x", "s-2")).locator), dirname(locator))
        return locator
      }).pipe(Effect.provide(SpillLocal.layer()))
      assert.isFalse(existsSync(dirname(dirname(place))))
    })
  )

  it.scopedLive("keeps them for good in a folder that somebody names", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const { locator } = yield* Effect.provide(save("text"), SpillLocal.layer({ root }))
      assert.isTrue(locator.startsWith(root))
      assert.strictEqual(readFileSync(locator, "utf8"), "text")
    })
  )

  it.scopedLive("keeps those of a confined call where its session finds them", () =>
    Effect.gen(function* () {
      const temp = yield* folder
      const inMode = (mode: Confinement["mode"]) =>
        Effect.provideService(save("text"), CurrentConfinement, confined(temp, mode))
      const free = yield* inMode("danger-full-access")
      assert.strictEqual(dirname(free.locator), temp)
      const { locator } = yield* inMode("read-only")
      assert.strictEqual(dirname(locator), process.platform === "linux" ? "/tmp" : temp)
      assert.strictEqual(readdirSync(temp).length, 1)
    }).pipe(Effect.provide(SpillLocal.layer()))
  )

  it.scopedLive("trusts nothing that is there already: no link, no other text", () =>
    Effect.gen(function* () {
      const temp = yield* folder
      const outside = join(yield* folder, "victim")
      writeFileSync(outside, "text")
      const held = confined(temp, "danger-full-access")
      const saved = Effect.provideService(save("text"), CurrentConfinement, held)
      const { locator } = yield* saved
      for (const plant of [
        () => symlinkSync(outside, locator),
        () => symlinkSync(join(dirname(outside), "new"), locator),
        () => writeFileSync(locator, "fake")
      ]) {
        rmSync(locator)
        plant()
        const other = yield* saved
        assert.notStrictEqual(other.locator, locator)
        assert.isFalse(statSync(other.locator).isSymbolicLink())
        assert.strictEqual(readFileSync(other.locator, "utf8"), "text")
      }
      assert.deepStrictEqual(readdirSync(dirname(outside)), ["victim"])
    }).pipe(Effect.provide(SpillLocal.layer()))
  )

  it.scopedLive("says what to do when there is no room", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "file")
      writeFileSync(file, "")
      const error = yield* Effect.flip(Effect.provide(save("text"), SpillLocal.layer({ root: file })))
      assert.strictEqual(error.code, "SPILL_FAILED")
      assert.include(error.message, "TMPDIR")
    })
  )
})
