import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import { join } from "node:path"
import { digest } from "../src/FileStates.ts"
import * as Snapshots from "../src/Snapshots.ts"
import { folder } from "./support.ts"

const bytes = (text: string) => Buffer.from(text)

/** As if everything had been there for long. */
const age = (root: string) =>
  execFileSync("find", [join(root, "objects"), "-type", "f", "-exec", "touch", "-d", "2 days ago", "{}", "+"])

describe("the store of contents", () => {
  it.scopedLive("keeps a content once, by its hash, for nobody but the user", () =>
    Effect.gen(function* () {
      const root = join(yield* folder, "store")
      const store = Snapshots.make(root)
      const hash = store.put(bytes("content"))
      assert.strictEqual(hash, digest(bytes("content")))
      assert.strictEqual(store.put(bytes("content")), hash)
      Fs.writeFileSync(join(root, "..", "file"), "content", { mode: 0o644 })
      assert.strictEqual(store.putFile(join(root, "..", "file")), hash)
      assert.deepStrictEqual(store.get(hash), bytes("content"))
      const files = Fs.readdirSync(join(root, "objects"), { recursive: true, withFileTypes: true }).filter((one) =>
        one.isFile()
      )
      assert.lengthOf(files, 1)
      assert.strictEqual(Fs.statSync(join(files[0]!.parentPath, files[0]!.name)).mode & 0o777, 0o600)
      assert.strictEqual(Fs.statSync(join(root, "objects")).mode & 0o777, 0o700)
    })
  )

  it.scopedLive("gives nothing that is damaged or not there", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const store = Snapshots.make(root)
      const hash = store.put(bytes("content"))
      Fs.writeFileSync(join(root, "objects", hash.slice(0, 2), hash.slice(2)), "other")
      assert.isUndefined(store.get(hash))
      assert.isUndefined(store.get(digest(bytes("nobody's"))))
      assert.isFalse(store.has(digest(bytes("nobody's"))))
    })
  )

  it.scopedLive("removes what no session needs, but nothing that was put there a moment ago", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const store = Snapshots.make(root)
      const [one, both, other] = ["one", "both", "other"].map((text) => store.put(bytes(text)))
      store.keep("a/b", [one!, both!])
      store.keep("other", [both!, other!])
      age(root)
      const fresh = store.put(bytes("fresh"))
      yield* Effect.promise(() => store.sweep((session) => session !== "other"))
      assert.deepStrictEqual(
        [one, both, other, fresh].map((hash) => store.has(hash!)),
        [true, true, false, true]
      )
      assert.isFalse(store.isSweepDue())
    })
  )

  it.scopedLive("keeps to its size: the sessions that were not used for longest go first", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const store = Snapshots.make(root, { maxFileBytes: 100, maxBytes: 25 })
      const hashes = ["old", "middle", "new"].map((session, n) => {
        const hash = store.put(bytes(session.padEnd(10)))
        store.keep(session, [hash])
        const used = Date.now() / 1000 - 1000 + n
        Fs.utimesSync(join(root, "sessions", session), used, used)
        return hash
      })
      age(root)
      yield* Effect.promise(() => store.sweep())
      assert.deepStrictEqual(hashes.map(store.has), [false, true, true])
    })
  )
})
