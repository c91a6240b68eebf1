// Files as confined tools have them: what counts is where a path really leads.
import { CurrentConfinement } from "@dsh/world/Confinement"
import type { Confinement } from "@dsh/world/Confinement"
import { Fs } from "@dsh/world/Fs"
import * as FsLocal from "@dsh/world/FsLocal"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as FsConfined from "../src/FsConfined.ts"
import { world } from "./support.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const layer = (standing: Confinement) =>
  Layer.provide(Layer.effect(Fs, FsConfined.make(Effect.succeed(standing))), FsLocal.layer)

/** Writes as a tool would. */
const write = (path: string, held: Confinement) =>
  Effect.gen(function* () {
    const fs = yield* Fs
    const target = yield* fs.resolve(path, { cwd: held.workspace })
    yield* fs.write(target, bytes("written"))
    yield* fs.modify(target, () => Effect.succeed({ value: 0, bytes: bytes("modified") }))
    return target
  }).pipe(Effect.provideService(CurrentConfinement, held), Effect.provide(layer(held)))

const refused = (path: string, held: Confinement) =>
  Effect.map(Effect.flip(write(path, held)), ({ code, message }) => {
    assert.strictEqual(code, "FS_SANDBOX_DENIED", message)
    return message
  })

describe("FsConfined", () => {
  it.scoped("changes what is in the workspace and in /tmp, which is the session's own", () =>
    Effect.gen(function* () {
      const { confinement, workspace } = yield* world({}, "beside")
      yield* write("new/file.txt", confinement)
      assert.strictEqual(readFileSync(join(workspace, "new/file.txt"), "utf8"), "modified")
      const { displayPath } = yield* write("/tmp/a/b", confinement)
      assert.strictEqual(displayPath, "/tmp/a/b")
      assert.strictEqual(readFileSync(join(confinement.temp, "a/b"), "utf8"), "modified")
      assert.isFalse(existsSync("/tmp/a/b"))
    })
  )

  it.scoped("refuses everything else, by whatever way it is reached", () =>
    Effect.gen(function* () {
      const { confinement, outside, root, workspace } = yield* world({}, "beside")
      symlinkSync(outside, join(workspace, "out"))
      symlinkSync("out", join(workspace, "twice"))
      symlinkSync(join(outside, "new.txt"), join(workspace, "dangling"))
      const paths = [
        join(outside, "file.txt"),
        join(outside, "new.txt"),
        "../outside/new.txt",
        "out/new.txt",
        "out/file.txt",
        "twice/deep/new.txt",
        "dangling",
        join(root, "ws2/new.txt"),
        "/etc/dsh-escape",
        ".git/hooks/pre-commit",
        ".git/config",
        ".git",
        ".dsh/permissions.yaml"
      ]
      for (const path of paths) yield* refused(path, confinement)
      assert.strictEqual(readFileSync(join(outside, "file.txt"), "utf8"), "theirs\n")
      assert.isFalse(existsSync(join(outside, "new.txt")))
      assert.isFalse(existsSync(join(root, "ws2")))
      assert.match(
        yield* refused("../outside/new.txt", confinement),
        /leads outside of the workspace .*workspace-write/
      )
    })
  )

  it.scoped("looks again when it changes something: a link that was put in the way meanwhile leads nowhere", () =>
    Effect.gen(function* () {
      const { confinement, outside, workspace } = yield* world({}, "beside")
      mkdirSync(join(workspace, "dir"))
      const fs = yield* Fs.pipe(Effect.provide(layer(confinement)))
      const target = yield* fs.resolve("dir/new.txt", { cwd: workspace })
      renameSync(join(workspace, "dir"), join(workspace, "moved"))
      symlinkSync(outside, join(workspace, "dir"))
      assert.strictEqual((yield* Effect.flip(fs.write(target, bytes("x")))).code, "FS_SANDBOX_DENIED")
      assert.isFalse(existsSync(join(outside, "new.txt")))
    })
  )

  it.scoped("shows nothing that is hidden, and its own log", () =>
    Effect.gen(function* () {
      const { confinement, home, workspace } = yield* world({}, "beside")
      symlinkSync(join(home, ".credentials.yaml"), join(workspace, "innocent"))
      const fs = yield* Fs.pipe(Effect.provide(layer(confinement)))
      for (const path of [join(home, ".credentials.yaml"), "innocent", join(home, "sessions/other/session.jsonl")]) {
        const target = yield* fs.resolve(path, { cwd: workspace })
        assert.strictEqual((yield* Effect.flip(fs.readBytes(target))).code, "FS_SANDBOX_DENIED")
        assert.strictEqual((yield* Effect.flip(fs.stat(target))).code, "FS_SANDBOX_DENIED")
      }
      const sessions = yield* fs.resolve(join(home, "sessions"), { cwd: workspace })
      assert.strictEqual((yield* Effect.flip(fs.listDir(sessions))).code, "FS_SANDBOX_DENIED")
      const own = yield* fs.resolve(join(home, "sessions/mine/session.jsonl"), { cwd: workspace })
      assert.strictEqual(new TextDecoder().decode((yield* fs.readBytes(own)).bytes), "my log\n")
      yield* refused(own.targetKey, confinement)
    })
  )

  it.scoped("read-only changes nothing but /tmp, danger-full-access everything", () =>
    Effect.gen(function* () {
      const { confinement, outside } = yield* world({ mode: "read-only" }, "beside")
      assert.match(yield* refused("file.txt", confinement), /mode read-only/)
      yield* write("/tmp/x", confinement)
      yield* write(join(outside, "file.txt"), { ...confinement, mode: "danger-full-access" })
      assert.strictEqual(readFileSync(join(outside, "file.txt"), "utf8"), "modified")
    })
  )

  it.scoped("a workspace may be reached by a link", () =>
    Effect.gen(function* () {
      const { confinement, root, workspace } = yield* world({}, "beside")
      symlinkSync(workspace, join(root, "link"))
      const held = { ...confinement }
      const fs = yield* Fs.pipe(Effect.provide(layer(held)))
      const target = yield* fs.resolve("a.txt", { cwd: join(root, "link") })
      assert.strictEqual(target.targetKey, join(workspace, "a.txt"))
      writeFileSync(join(workspace, "a.txt"), "a")
      yield* fs.write(target, bytes("b"))
      assert.strictEqual(readFileSync(join(workspace, "a.txt"), "utf8"), "b")
    })
  )

  it.scoped("a workspace under /tmp is itself, and what is beside it there is as commands see it", () =>
    Effect.gen(function* () {
      const { confinement, outside, workspace } = yield* world()
      yield* write(join(workspace, "file.txt"), confinement)
      assert.strictEqual(readFileSync(join(workspace, "file.txt"), "utf8"), "modified")
      yield* write(join(outside, "file.txt"), confinement)
      assert.strictEqual(readFileSync(join(outside, "file.txt"), "utf8"), "theirs\n")
    })
  )

  it.scoped("where nobody says how the caller is confined, the standing confinement holds", () =>
    Effect.gen(function* () {
      const { confinement, workspace } = yield* world({ mode: "read-only" }, "beside")
      const fs = yield* Fs.pipe(Effect.provide(layer(confinement)))
      const target = yield* fs.resolve("file.txt", { cwd: workspace })
      assert.strictEqual((yield* Effect.flip(fs.write(target, bytes("x")))).code, "FS_SANDBOX_DENIED")
    })
  )
})
