// The file tools of a session that is confined: what counts is where a path really leads, and who may go there all the same.
import { CallId } from "@dsh/protocol/Ids"
import * as AttachmentsLocal from "@dsh/attachments/AttachmentsLocal"
import * as FsConfined from "@dsh/sandbox/FsConfined"
import * as SandboxEscalation from "@dsh/sandbox/SandboxEscalation"
import * as SandboxPolicyLocal from "@dsh/sandbox/SandboxPolicyLocal"
import * as ToolConfinement from "@dsh/sandbox/ToolConfinement"
import * as Sessions from "@dsh/session/Sessions"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import * as ToolPipeline from "@dsh/tools/ToolPipeline"
import { Tools } from "@dsh/tools/Tools"
import * as FsLocal from "@dsh/world/FsLocal"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import * as NodeFs from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import * as EditTool from "../src/EditTool.ts"
import * as GlobTool from "../src/GlobTool.ts"
import * as ObservedFiles from "../src/ObservedFiles.ts"
import * as ReadImageTool from "../src/ReadImageTool.ts"
import * as ReadTool from "../src/ReadTool.ts"
import * as StrReplaceEditorTool from "../src/StrReplaceEditorTool.ts"
import * as WriteTool from "../src/WriteTool.ts"
import { picture } from "./images.ts"
import { definitions } from "./search.ts"
import { codeOf, textOf } from "./support.ts"

/** A workspace beside `/tmp`, which confined sessions have of their own, with links that lead out of it. */
const place = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() =>
      NodeFs.realpathSync(
        NodeFs.mkdtempSync(join(NodeFs.existsSync("/var/tmp") ? "/var/tmp" : homedir(), "dsh-files-"))
      )
    ),
    (root) => Effect.sync(() => NodeFs.rmSync(root, { recursive: true, force: true }))
  ),
  (root) => {
    const at = (name: string) => join(root, name)
    for (const name of ["ws/dir", "outside/deep", "vault"]) NodeFs.mkdirSync(at(name), { recursive: true })
    for (const name of ["ws/in.txt", "ws/dir/in.txt", "outside/old.txt", "vault/key.txt"]) {
      NodeFs.writeFileSync(at(name), "theirs\n")
    }
    const links: ReadonlyArray<readonly [name: string, to: string]> = [
      ["ws/out", at("outside")],
      ["ws/twice", "out"],
      ["ws/old", "twice/old.txt"],
      ["ws/dangling", at("outside/new.txt")],
      ["ws/inner", "dir/in.txt"],
      ["ws/round", "round"],
      ["ws/key", at("vault/key.txt")],
      ["ws/~", at("outside")],
      ["link", at("ws")]
    ]
    for (const [name, to] of links) NodeFs.symlinkSync(to, at(name))
    return { root, at, text: (name: string) => NodeFs.readFileSync(at(name), "utf8") }
  }
)

interface Place {
  readonly root: string
  readonly at: (name: string) => string
  readonly text: (name: string) => string
}

const plain = Layer.mergeAll(
  ReadTool.layer,
  WriteTool.layer,
  EditTool.layer,
  GlobTool.layer,
  StrReplaceEditorTool.layer
)

const escalating = Layer.mergeAll(ReadTool.layer, WriteTool.layerEscalating, EditTool.layerEscalating).pipe(
  Layer.provideMerge(SandboxEscalation.layer(["write", "edit"]))
)

type Needs = Layer.Layer.Context<typeof plain> | Layer.Layer.Context<typeof escalating>

/** Runs `test` in a place of its own, where a session may change its workspace and nobody may see the vault. */
const inPlace = <A, E, R>(
  test: (place: Place) => Effect.Effect<A, E, R>,
  tools: Layer.Layer<never, Layer.Layer.Error<typeof plain>, Needs> = plain
) =>
  Effect.flatMap(place, (made) =>
    Effect.provide(
      test(made),
      Layer.merge(tools, ToolConfinement.layer).pipe(
        Layer.provideMerge(
          Layer.mergeAll(ObservedFiles.layer, SubprocessLocal.layer(), Layer.provide(FsConfined.layer, FsLocal.layer))
        ),
        Layer.provideMerge(
          SandboxPolicyLocal.layer({
            mode: "workspace-write",
            hidden: [made.at("vault")],
            tempParent: made.at("temps")
          })
        ),
        Layer.provideMerge(definitions)
      )
    )
  )

/** Tools of a new session in `cwd`. */
const sessionIn = (cwd: string) =>
  Effect.map(
    Effect.flatMap(Sessions.Sessions, (sessions) => sessions.create({ cwd })),
    (session) => {
      let calls = 0
      return (name: string, args: object) =>
        ToolPipeline.execute({ callId: CallId(`c${++calls}`), name, arguments: args, session })
    }
  )

describe("file tools, confined to the workspace", () => {
  it.scopedLive("a symbolic link leads out of the workspace for nobody who writes, and to secrets for nobody", () =>
    inPlace(({ at, root, text }) =>
      Effect.gen(function* () {
        const denied = "FS_SANDBOX_DENIED"
        // Reading is free, but for what is hidden; what counts for the rest is where the path really ends.
        const cases: ReadonlyArray<[path: string, read: string | undefined, write: string | undefined, edit?: string]> =
          [
            ["in.txt", undefined, undefined],
            ["inner", undefined, undefined],
            ["dir/../in.txt", undefined, undefined],
            [at("link/dir/in.txt"), undefined, undefined],
            ["new/deep.txt", "FS_NOT_FOUND", undefined],
            ["out/new.txt", "FS_NOT_FOUND", denied],
            ["out/new/deep.txt", "FS_NOT_FOUND", denied],
            ["out/old.txt", undefined, denied],
            ["twice/old.txt", undefined, denied],
            ["old", undefined, denied],
            ["dangling", "FS_NOT_FOUND", denied],
            ["out/../outside/old.txt", undefined, denied],
            ["../outside/old.txt", undefined, denied],
            [at("outside/old.txt"), undefined, denied],
            // Not the home: a folder of that name, and a link.
            ["~/new.txt", "FS_NOT_FOUND", denied],
            ["key", denied, denied],
            [at("link/key"), denied, denied],
            ["round", "FS_IO_ERROR", "FS_IO_ERROR"]
          ]
        for (const start of ["ws", "link"]) {
          const call = yield* sessionIn(at(start))
          for (const [path, reading, writing] of cases) {
            const name = `${path} from ${start}`
            yield* Effect.sync(() => NodeFs.rmSync(at("ws/new"), { recursive: true, force: true }))
            assert.strictEqual(codeOf(yield* call("read", { file_path: path })), reading, `read ${name}`)
            const edit = yield* call("edit", { file_path: path, old_string: "theirs", new_string: "mine" })
            const editing = writing ?? reading
            assert.strictEqual(codeOf(edit), editing, `edit ${name}`)
            yield* call("read", { file_path: path })
            const write = yield* call("write", { file_path: path, content: "theirs\n" })
            assert.strictEqual(codeOf(write), writing, `write ${name}: ${textOf(write)}`)
          }
        }
        assert.deepStrictEqual(NodeFs.readdirSync(at("outside")), ["deep", "old.txt"])
        assert.deepStrictEqual(NodeFs.readdirSync(root).sort(), ["link", "outside", "temps", "vault", "ws"])
        assert.strictEqual(text("outside/old.txt") + text("vault/key.txt"), "theirs\ntheirs\n")
      })
    )
  )

  it.scopedLive("finds nothing behind a link, and what it leads to when asked for that place", () =>
    inPlace(({ at }) =>
      Effect.gen(function* () {
        const call = yield* sessionIn(at("ws"))
        const glob = (args: object) => Effect.map(call("glob", args), textOf)
        assert.strictEqual(yield* glob({ pattern: "*.txt" }), "dir/in.txt\nin.txt")
        assert.strictEqual(yield* glob({ pattern: "out/*" }), "No files found")
        assert.strictEqual(yield* glob({ pattern: "*.txt", path: "out" }), "out/old.txt")
        assert.strictEqual(codeOf(yield* call("glob", { pattern: "*", path: "../vault" })), "FS_SANDBOX_DENIED")
      })
    )
  )
})

describe("the other file tools, confined", () => {
  it.scopedLive("str_replace_editor changes nothing outside, and cannot ask to", () =>
    inPlace(({ at, text }) =>
      Effect.gen(function* () {
        const call = yield* sessionIn(at("ws"))
        const editor = (command: string, path: string, args: object = {}) =>
          call("str_replace_editor", { command, path: at(path), ...args })
        assert.isFalse((yield* editor("view", "ws/out/old.txt")).isError)
        const change = { old_str: "theirs", new_str: "mine", insert_line: 0, file_text: "mine" }
        for (const [command, path] of [
          ["create", "ws/out/new.txt"],
          ["create", "ws/dangling"],
          ["str_replace", "ws/out/old.txt"],
          ["insert", "outside/old.txt"],
          ["view", "ws/key"],
          ["view", "vault"]
        ] as const) {
          const denied = yield* editor(command, path, change)
          assert.strictEqual(codeOf(denied), "FS_SANDBOX_DENIED", `${command} ${path}: ${textOf(denied)}`)
          assert.notInclude(textOf(denied), "sandbox_permissions")
        }
        assert.strictEqual(text("outside/old.txt"), "theirs\n")
        assert.isFalse((yield* editor("create", "ws/new.txt", change)).isError)
      })
    )
  )

  it.scopedLive("read_image sees nothing that is hidden", () =>
    inPlace(({ at }) =>
      Effect.gen(function* () {
        NodeFs.writeFileSync(at("vault/key.png"), picture(4, 4).get_bytes())
        NodeFs.symlinkSync(at("vault/key.png"), at("ws/innocent.png"))
        NodeFs.writeFileSync(at("outside/other.png"), picture(4, 4).get_bytes())
        const call = yield* sessionIn(at("ws"))
        const denied = yield* call("read_image", { file_path: "innocent.png" })
        assert.strictEqual(codeOf(denied), "FS_SANDBOX_DENIED")
        assert.isFalse((yield* call("read_image", { file_path: "../outside/other.png" })).isError)
      }).pipe(Effect.provide(Layer.provide(ReadImageTool.layer, AttachmentsLocal.layer({ root: at("attachments") }))))
    )
  )
})

/** Who answers approvals, and what was asked. */
const answering = (answer: ToolHooks.Approval) => {
  const asked: Array<string | undefined> = []
  const layer = ToolHooks.AskApproval.hook("test", ({ reason }) =>
    Effect.sync(() => {
      asked.push(reason)
      return Option.some(answer)
    })
  )
  return { asked, layer }
}

describe("file tools that may ask for more", () => {
  const wider = { sandbox_permissions: "danger-full-access", justification: "to test it" }

  it.scopedLive("write and edit once where the sandbox is in the way, if that is allowed", () =>
    inPlace(
      ({ at, text }) =>
        Effect.gen(function* () {
          const call = yield* sessionIn(at("ws"))
          for (const { name, parameters } of (yield* Tools).list()) {
            const offers = JSON.stringify(parameters).includes("sandbox_permissions")
            assert.strictEqual(offers, name !== "read", name)
          }
          const write = { file_path: "../outside/new.txt", content: "a" }
          const denied = yield* call("write", write)
          assert.strictEqual(codeOf(denied), "FS_SANDBOX_DENIED")
          assert.match(textOf(denied), /the mode is workspace-write; .*repeat the call once with sandbox_permissions/)

          const rejecting = answering("rejected")
          const rejected = yield* Effect.provide(call("write", { ...write, ...wider }), rejecting.layer)
          assert.isTrue(rejected.isError)
          assert.isFalse(NodeFs.existsSync(at("outside/new.txt")))

          const { asked, layer } = answering("allowed-once")
          yield* Effect.gen(function* () {
            assert.isFalse((yield* call("write", { ...write, ...wider })).isError)
            const edit = { file_path: write.file_path, old_string: "a", new_string: "b" }
            assert.isFalse((yield* call("edit", { ...edit, ...wider })).isError)
            assert.strictEqual(text("outside/new.txt"), "b")
            // Once is once.
            const again = yield* call("edit", { ...edit, old_string: "b", new_string: "c" })
            assert.strictEqual(codeOf(again), "FS_SANDBOX_DENIED")
            assert.match(textOf(again), /repeat the call once/)
            assert.isTrue((yield* call("write", { ...write, justification: "half of it" })).isError)
          }).pipe(Effect.provide(layer))
          assert.deepStrictEqual(asked, Array(2).fill("with danger-full-access: to test it"))
        }),
      escalating
    )
  )

  it.scopedLive("say how only where somebody can be asked", () =>
    inPlace(({ at }) =>
      Effect.gen(function* () {
        const call = yield* sessionIn(at("ws"))
        const denied = yield* call("write", { file_path: "../outside/new.txt", content: "a" })
        assert.notInclude(textOf(denied), "sandbox_permissions")
        for (const { name, parameters } of [WriteTool.tool, EditTool.tool]) {
          assert.notInclude(JSON.stringify(parameters), "sandbox_permissions", name)
        }
      })
    )
  )
})
