// Search and spilled results under the real sandbox: what is hidden stays hidden, and what is saved can be read by the session.
import { CallId } from "@dsh/protocol/Ids"
import * as FsConfined from "@dsh/sandbox/FsConfined"
import * as SandboxBwrap from "@dsh/sandbox/SandboxBwrap"
import * as SandboxPolicyLocal from "@dsh/sandbox/SandboxPolicyLocal"
import * as SubprocessConfined from "@dsh/sandbox/SubprocessConfined"
import * as ToolConfinement from "@dsh/sandbox/ToolConfinement"
import * as Sessions from "@dsh/session/Sessions"
import * as SpillFs from "@dsh/spill/SpillFs"
import * as SpillPolicy from "@dsh/spill/SpillPolicy"
import * as ToolPipeline from "@dsh/tools/ToolPipeline"
import * as FsLocal from "@dsh/world/FsLocal"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { spawnSync } from "node:child_process"
import * as GlobTool from "../src/GlobTool.ts"
import * as GrepTool from "../src/GrepTool.ts"
import * as ObservedFiles from "../src/ObservedFiles.ts"
import * as ReadTool from "../src/ReadTool.ts"
import { definitions, put } from "./search.ts"
import { codeOf, folder, textOf } from "./support.ts"

const canConfine = process.platform === "linux" && spawnSync("bwrap", ["--ro-bind", "/", "/", "true"]).status === 0

/** An agent's world, with `hidden` out of its sight and temporary folders in `tempParent`. */
const confined = (hidden: ReadonlyArray<string>, tempParent: string) =>
  Layer.mergeAll(
    GlobTool.layer,
    GrepTool.layer,
    ReadTool.layer,
    SpillPolicy.layer({ maxInlineBytes: 4000 }),
    ToolConfinement.layer
  ).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        ObservedFiles.layer,
        Layer.provide(SubprocessConfined.layer, [
          SubprocessLocal.layer(),
          Layer.provide(SandboxBwrap.layer(), SubprocessLocal.layer())
        ])
      ).pipe(Layer.merge(SpillFs.layer()), Layer.provideMerge(Layer.provide(FsConfined.layer, FsLocal.layer)))
    ),
    Layer.provideMerge(SandboxPolicyLocal.layer({ hidden, tempParent })),
    Layer.provideMerge(definitions)
  )

describe.skipIf(!canConfine)(`search, confined${canConfine ? "" : ": skipped, bubblewrap is not there"}`, () => {
  it.scopedLive("finds nothing in what is hidden, and what it saved the session can read and search", () =>
    Effect.gen(function* () {
      const { at, dir } = yield* folder
      put(at("ws/a.txt"), "secret of mine\n".repeat(300))
      put(at("ws/vault/key.txt"), "secret of theirs\n")
      yield* Effect.gen(function* () {
        const session = yield* (yield* Sessions.Sessions).create({ cwd: at("ws") })
        let calls = 0
        const call = (name: string, args: object) =>
          ToolPipeline.execute({ callId: CallId(`c${++calls}`), name, arguments: args, session })

        assert.strictEqual(textOf(yield* call("glob", { pattern: "*.txt" })), "a.txt")
        assert.strictEqual(codeOf(yield* call("grep", { pattern: "secret", path: "vault" })), "FS_SANDBOX_DENIED")
        const found = textOf(yield* call("grep", { pattern: "secret" }))
        assert.notInclude(found, "theirs")
        assert.include(found, "Found 300 matches")

        // The page is too long itself: it was saved by the policy, the list by the tool.
        const [list, page] = [...found.matchAll(/\/tmp\/[0-9a-f]{12}-grep\.txt/g)].map(([path]) => path).reverse()
        assert.isString(list)
        assert.isString(page)
        assert.notStrictEqual(list, page)
        assert.match(textOf(yield* call("read", { file_path: list, offset: 303 })), /303: Line 300: secret of mine/)
        const inPage = textOf(yield* call("grep", { pattern: "Line 200:", path: page }))
        assert.include(inPage, "Line 200: secret of mine")
        // As often as it is done it comes to the same, so that repetition can be seen.
        assert.strictEqual(textOf(yield* call("grep", { pattern: "secret" })), found)
      }).pipe(Effect.provide(confined([at("ws/vault")], `${dir}/temps`)))
    })
  )
})
