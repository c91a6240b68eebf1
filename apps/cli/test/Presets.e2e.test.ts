// How far tools may go is chosen once, for a session, and is in its log.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Workspace from "./support/Workspace.ts"

const done = Script.respond(() => Reply.text("done"))

const mode = (value: string) => ({ env: { DSH_PERMISSION_MODE: value } })

/** What the log says of permissions, in order. */
const said = (workspace: Workspace.Workspace, id = workspace.sessions()[0] ?? "") =>
  workspace
    .log(id)
    .flatMap(({ data, type }) =>
      type === "permission/preset" || type === "sandbox/mode" || type === "approval/policy"
        ? [Object.values(data ?? {}).join()]
        : []
    )

/** What the model was told of them with its last request. */
const told = (workspace: Workspace.Workspace) =>
  Effect.map(workspace.server.requests, (requests) => {
    const { messages = [] } = requests.at(-1)?.request ?? {}
    return messages.map(({ text }) => text).findLast((text) => text.includes("Sandbox: ")) ?? ""
  })

describe("dsh run --permission", () => {
  it.scopedLive("pins a new session by the flag, the environment or the settings, in this order", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(done)
      const first = yield* workspace.run(["run", "hi"], mode(""))
      assert.strictEqual(first.code, 0, first.stderr)
      assert.deepStrictEqual(said(workspace), ["workspace-write", "workspace-write", "ask"])
      assert.include(yield* told(workspace), "Sandbox: workspace-write.")
      assert.include(yield* told(workspace), "Approvals: nobody is asked.")

      writeFileSync(join(workspace.home, "settings.yaml"), "permission: { preset: read-only }\n")
      yield* workspace.run(["run", "hi"], mode(""))
      assert.include(yield* told(workspace), "Sandbox: read-only.")
      yield* workspace.run(["run", "hi"], mode("danger-full-access"))
      assert.include(yield* told(workspace), "Sandbox: none.")
      yield* workspace.run(["run", "--permission", "workspace-write", "hi"], mode("danger-full-access"))
      assert.include(yield* told(workspace), "Sandbox: workspace-write.")
    })
  )

  it.scopedLive("keeps what a session has, narrows it for the environment, widens it for the flag alone", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(done)
      yield* workspace.run(["run", "--permission", "workspace-write", "hi"])
      const before = said(workspace)

      const kept = yield* workspace.run(["run", "--continue", "on"], mode(""))
      assert.strictEqual(kept.stderr, "")
      const wider = yield* workspace.run(["run", "--continue", "on"], mode("danger-full-access"))
      assert.match(wider.stderr, /may do no more than before: its preset is workspace-write; --permission changes it/)
      assert.deepStrictEqual(said(workspace), before)

      yield* workspace.run(["run", "--continue", "on"], mode("read-only"))
      assert.deepStrictEqual(said(workspace).slice(before.length), ["read-only", "read-only"])
      assert.include(yield* told(workspace), "Sandbox: read-only.")

      yield* workspace.run(["run", "--continue", "--permission=danger-full-access", "on"], mode("read-only"))
      assert.deepStrictEqual(said(workspace).slice(before.length + 2), [
        "danger-full-access",
        "danger-full-access",
        "never"
      ])
      const [id = ""] = workspace.sessions()
      assert.strictEqual((yield* workspace.run(["session", "verify", id])).code, 0)
    })
  )

  for (const [title, args, settings, code, message] of [
    ["a flag", ["--permission", "read-onl"], "", 2, /"read-onl" is no permission preset; did you mean "?read-only/],
    ["the settings", [], "permission: { preset: all }\n", 3, /permission\.preset .* is "all"/],
    ["settings that do not parse", [], "permission: [\n", 3, /settings\.yaml:\d+:\d+/]
  ] as const) {
    it.scopedLive(`refuses what is no preset in ${title}, before anything starts`, () =>
      Effect.gen(function* () {
        const workspace = yield* Workspace.make(done)
        mkdirSync(workspace.home)
        writeFileSync(join(workspace.home, "settings.yaml"), settings)
        const result = yield* workspace.run(["run", ...args, "hi"], mode(""))
        assert.strictEqual(result.code, code)
        assert.match(result.stderr, message)
        assert.lengthOf(yield* workspace.server.requests, 0)
      })
    )
  }
})
