// The store that DSH_SESSION_STORE asks for, through the real command.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as Workspace from "./support/Workspace.ts"

const sqlite = { env: { DSH_SESSION_STORE: "sqlite" } }

describe("DSH_SESSION_STORE", () => {
  it.scopedLive("sqlite: a session is kept in the database, continued, listed, shown and verified", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.respond(() => Reply.text("done")))
      const first = yield* workspace.run(["run", "begin"], sqlite)
      assert.deepStrictEqual([first.code, first.stdout], [0, "done\n"])
      const second = yield* workspace.run(["run", "--continue", "go on"], sqlite)
      assert.strictEqual(second.code, 0)
      assert.isTrue(existsSync(join(workspace.home, "sessions.sqlite")))
      assert.isFalse(existsSync(join(workspace.home, "sessions")))
      const list = yield* workspace.run(["session", "list", "--json"], sqlite)
      const { id } = JSON.parse(list.stdout)
      const shown = yield* workspace.run(["session", "show", id], sqlite)
      assert.include(shown.stdout, "go on")
      const verified = yield* workspace.run(["session", "verify", id], sqlite)
      assert.include(verified.stdout, "2 requests, each rebuilt byte for byte")
    })
  )

  it.scopedLive("anything else is refused before anything starts", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(Script.respond(() => Reply.text("done")))
      const { code, stderr } = yield* workspace.run(["run", "begin"], { env: { DSH_SESSION_STORE: "mongo" } })
      assert.strictEqual(code, 3)
      assert.strictEqual(stderr, 'dsh: INVALID_CONFIG: DSH_SESSION_STORE is "mongo"; it is either jsonl or sqlite\n')
      assert.strictEqual((yield* workspace.server.requests).length, 0)
    })
  )
})
