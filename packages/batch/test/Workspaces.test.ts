// Folders of their own, in a real repository and on a real disk.
import { Workspaces } from "@dsh/batch/Workspaces"
import * as WorkspacesCopy from "@dsh/batch/WorkspacesCopy"
import * as WorkspacesWorktree from "@dsh/batch/WorkspacesWorktree"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const git = (cwd: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
    cwd,
    encoding: "utf8"
  }).trim()

/** A repository on a branch, with something staged, something changed and something new, and a hook that must not run. */
const make = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "dsh-workspaces-"))
    const project = join(folder, "project")
    mkdirSync(join(project, "sub"), { recursive: true })
    git(project, "init", "--quiet", "--initial-branch=mine")
    writeFileSync(join(project, "a.txt"), "one\n")
    writeFileSync(join(project, "sub", "b.txt"), "two\n")
    git(project, "add", "-A")
    git(project, "commit", "--quiet", "-m", "first")
    writeFileSync(join(project, ".git", "hooks", "post-checkout"), `#!/bin/sh\ntouch ${folder}/hooked\n`)
    chmodSync(join(project, ".git", "hooks", "post-checkout"), 0o755)
    writeFileSync(join(project, "staged.txt"), "staged\n")
    git(project, "add", "staged.txt")
    writeFileSync(join(project, "a.txt"), "changed\n")
    return { folder, project, root: join(folder, "work") }
  }),
  ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** What may not be touched. */
const stateOf = (project: string) => ({
  branch: git(project, "symbolic-ref", "HEAD"),
  refs: git(project, "for-each-ref"),
  head: git(project, "rev-parse", "HEAD"),
  index: readFileSync(join(project, ".git", "index")).toString("base64"),
  status: git(project, "--no-optional-locks", "status", "--porcelain"),
  files: readdirSync(project).sort()
})

describe("worktrees", () => {
  it.scoped("have what is committed, leave what is the user's alone, and go when nothing was changed", () =>
    Effect.gen(function* () {
      const { folder, project, root } = yield* make
      const before = stateOf(project)
      const workspaces = yield* WorkspacesWorktree.make({ root })
      const opened = yield* Effect.forEach(["a", "b", "c"], (id) => workspaces.open(id, project), {
        concurrency: "unbounded"
      })
      for (const { cwd } of opened) {
        assert.strictEqual(readFileSync(join(cwd, "a.txt"), "utf8"), "one\n")
        assert.isFalse(existsSync(join(cwd, "staged.txt")))
      }
      assert.strictEqual(new Set(opened.map(({ cwd }) => cwd)).size, 3)
      assert.deepStrictEqual(yield* Effect.forEach(opened, ({ finish }) => finish), [undefined, undefined, undefined])
      assert.deepStrictEqual(stateOf(project), before)
      assert.deepStrictEqual(readdirSync(root), [".base"])
      assert.strictEqual(git(project, "worktree", "list").split("\n").length, 1)
      assert.isFalse(existsSync(join(folder, "hooked")), "a hook ran")
    })
  )

  it.scoped("stay with what was changed or committed in them", () =>
    Effect.gen(function* () {
      const { project, root } = yield* make
      const before = stateOf(project)
      const workspaces = yield* WorkspacesWorktree.make({ root })
      const [changed, fresh, committed] = yield* Effect.forEach(["a", "b", "c"], (id) => workspaces.open(id, project))
      writeFileSync(join(changed!.cwd, "a.txt"), "by the agent\n")
      writeFileSync(join(fresh!.cwd, "new.txt"), "by the agent\n")
      writeFileSync(join(committed!.cwd, "a.txt"), "by the agent\n")
      git(committed!.cwd, "commit", "--quiet", "-am", "by the agent")
      for (const one of [changed!, fresh!, committed!]) assert.strictEqual(yield* one.finish, one.cwd)
      assert.strictEqual(git(committed!.cwd, "log", "--format=%s").split("\n")[0], "by the agent")
      assert.deepStrictEqual(stateOf(project), before)
    })
  )

  it.scoped("are found again by another process, and made anew when they were not made to their end", () =>
    Effect.gen(function* () {
      const { project, root } = yield* make
      const first = yield* (yield* WorkspacesWorktree.make({ root })).open("a", project)
      writeFileSync(join(first.cwd, "new.txt"), "half of it\n")
      const again = yield* (yield* WorkspacesWorktree.make({ root })).open("a", project)
      assert.strictEqual(again.cwd, first.cwd)
      assert.isTrue(existsSync(join(again.cwd, "new.txt")))
      assert.strictEqual(yield* again.finish, again.cwd)
      rmSync(join(again.cwd, "new.txt"))
      assert.strictEqual(yield* again.finish, undefined)

      mkdirSync(join(root, "b"))
      writeFileSync(join(root, "b", "a.txt"), "a piece")
      const whole = yield* (yield* WorkspacesWorktree.make({ root })).open("b", project)
      assert.strictEqual(readFileSync(join(whole.cwd, "a.txt"), "utf8"), "one\n")
    })
  )

  it.scoped("are of the folder in the repository that the task names", () =>
    Effect.gen(function* () {
      const { folder, project, root } = yield* make
      const workspaces = yield* WorkspacesWorktree.make({ root })
      const { cwd } = yield* workspaces.open("has/a strange id", join(project, "sub"))
      assert.deepStrictEqual(readdirSync(cwd), ["b.txt"])
      assert.isTrue(cwd.startsWith(root))
      const refused = yield* Effect.flip(workspaces.check(folder))
      assert.strictEqual(refused.code, "NOT_A_REPOSITORY")
    })
  )
})

describe("copies", () => {
  const copies = (root: string): Workspaces["Type"] => WorkspacesCopy.make({ root })

  it.scoped("have all that is there, and go when nothing was changed", () =>
    Effect.gen(function* () {
      const { project, root } = yield* make
      symlinkSync("a.txt", join(project, "link"))
      const before = stateOf(project)
      const { cwd, finish } = yield* copies(root).open("a", project)
      assert.strictEqual(readFileSync(join(cwd, "a.txt"), "utf8"), "changed\n")
      assert.strictEqual(readFileSync(join(cwd, "link"), "utf8"), "changed\n")
      assert.strictEqual(git(cwd, "--no-optional-locks", "status", "--porcelain"), before.status)
      assert.strictEqual(yield* finish, undefined)
      assert.isFalse(existsSync(cwd))
      assert.deepStrictEqual(stateOf(project), before)
    })
  )

  it.scoped("stay when something in them was changed, made or removed", () =>
    Effect.gen(function* () {
      const { project, root } = yield* make
      const changes: ReadonlyArray<(cwd: string) => void> = [
        (cwd) => writeFileSync(join(cwd, "a.txt"), "CHANGED\n"),
        (cwd) => writeFileSync(join(cwd, "sub", "new.txt"), ""),
        (cwd) => rmSync(join(cwd, "sub", "b.txt")),
        (cwd) => chmodSync(join(cwd, "a.txt"), 0o755)
      ]
      for (const [i, change] of changes.entries()) {
        const { cwd, finish } = yield* copies(root).open(`t${i}`, project)
        change(cwd)
        assert.strictEqual(yield* finish, cwd, `change ${i}`)
      }
      const known = yield* copies(root).open("t0", project)
      assert.strictEqual(readFileSync(join(known.cwd, "a.txt"), "utf8"), "CHANGED\n")
      assert.strictEqual(yield* known.finish, known.cwd)
    })
  )

  it.scoped("are not made inside of themselves", () =>
    Effect.gen(function* () {
      const { project } = yield* make
      const refused = yield* Effect.flip(copies(join(project, "work")).check(project))
      assert.strictEqual(refused.code, "WORKSPACE_FAILED")
    })
  )
})
