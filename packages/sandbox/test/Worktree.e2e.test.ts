// A linked worktree keeps its history elsewhere: git can commit there, and nothing else can be done to that place.
import type { Confinement } from "@dsh/world/Confinement"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Worktree from "../src/Worktree.ts"
import { canConfine, confined, sh, world } from "./support.ts"

const git = (cwd: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd, encoding: "utf8" }).trim()

const commit = "git add -A && git -c user.name=a -c user.email=a@b commit -qm more && git log --oneline | wc -l"

/** A repository outside, and a worktree of it that is the workspace. */
const linked = (fields: Partial<Confinement> = {}, place: "temp" | "beside" = "temp", relative = false) =>
  Effect.gen(function* () {
    const { confinement, outside, root } = yield* world(fields, place)
    const [main, workspace] = [join(root, "main"), join(root, "linked")]
    mkdirSync(main)
    git(main, "init", "-q", "-b", "main")
    writeFileSync(join(main, "a.txt"), "a\n")
    git(main, "add", "-A")
    git(main, "commit", "-qm", "first")
    git(main, "worktree", "add", "-q", workspace)
    if (relative) writeFileSync(join(workspace, ".git"), "gitdir: ../main/.git/worktrees/linked\n")
    const commits = Worktree.commitFolders(workspace)
    return { main, outside, root, workspace, commits, confinement: { ...confinement, workspace, commits } }
  })

describe("the folders that a commit changes", () => {
  it.scopedLive("are those of a worktree and of the history it shares, however its repository is named", () =>
    Effect.gen(function* () {
      for (const relative of [false, true]) {
        const { commits, main } = yield* linked({}, "temp", relative)
        assert.deepStrictEqual(
          commits,
          ["worktrees/linked", "objects", "refs", "logs"].map((name) => join(main, ".git", name))
        )
      }
    })
  )

  it.scopedLive("are none where there is no worktree, or one that its repository knows nothing of", () =>
    Effect.gen(function* () {
      const folders = (path: string) => Effect.sync(() => Worktree.commitFolders(path))
      const { main, outside, root, workspace } = yield* linked()
      assert.deepStrictEqual(yield* folders(main), [])
      assert.deepStrictEqual(yield* folders(outside), [])
      assert.deepStrictEqual(yield* folders(join(root, "nothing")), [])
      for (const text of [
        `gitdir: ${main}/.git/worktrees/linked\n`,
        `gitdir: ${main}/.git\n`,
        `gitdir: ${root}/none\n`,
        "gitdir: \n",
        ""
      ]) {
        writeFileSync(join(outside, ".git"), text)
        assert.deepStrictEqual(yield* folders(outside), [], text)
      }
      // One that names the workspace in turn, and a repository that does not hold it.
      const fake = join(outside, "fake")
      mkdirSync(fake)
      writeFileSync(join(fake, "gitdir"), `${outside}/.git\n`)
      writeFileSync(join(fake, "commondir"), `${main}/.git\n`)
      writeFileSync(join(outside, ".git"), `gitdir: ${fake}\n`)
      assert.deepStrictEqual(yield* folders(outside), [])
      assert.lengthOf(yield* folders(workspace), 4)
    })
  )
})

describe.skipIf(!canConfine)(
  `a linked worktree, under bubblewrap${canConfine ? "" : ": skipped, bubblewrap is not there"}`,
  () => {
    for (const place of ["temp", "beside"] as const) {
      it.live(`is committed to, ${place === "temp" ? "below /tmp" : "beside it"}`, () =>
        Effect.gen(function* () {
          const { confinement, main, workspace } = yield* linked({}, place)
          const { exitCode, stderr, stdout } = yield* sh(`echo b > b.txt && ${commit}`, confinement)
          assert.deepStrictEqual([exitCode, stdout.trim()], [0, "2"], stderr)
          assert.strictEqual(git(workspace, "show", "HEAD:b.txt"), "b")
          assert.strictEqual(git(main, "log", "--oneline").split("\n").length, 1)
        }).pipe(Effect.scoped, Effect.provide(confined))
      )

      for (const [what, command] of [
        [
          "a hook",
          "mkdir -p MAIN/.git/hooks; echo x > MAIN/.git/hooks/pre-commit; git config --local core.hooksPath x"
        ],
        ["the head of another worktree", "echo ref: refs/heads/linked > MAIN/.git/HEAD; rm -f MAIN/.git/index"],
        [
          "files of another worktree",
          "echo x > MAIN/a.txt; git --work-tree=MAIN --git-dir=MAIN/.git checkout -f linked"
        ],
        ["where its repository is", "echo 'gitdir: evil' > .git; mv .git old; rm -f .git; ln -sf evil .git"],
        [
          "what its repository is",
          "echo ../../../../evil > MAIN/.git/worktrees/linked/commondir; mv MAIN/.git/worktrees/linked MAIN/.git/worktrees/x"
        ]
      ] as const) {
        it.live(`cannot change ${what}, ${place === "temp" ? "below /tmp" : "beside it"}`, () =>
          Effect.gen(function* () {
            const { confinement, main, workspace } = yield* linked({}, place)
            const files = [
              join(main, "a.txt"),
              join(main, ".git/HEAD"),
              join(main, ".git/config"),
              join(main, ".git/worktrees/linked/commondir"),
              join(workspace, ".git")
            ]
            const before = files.map((file) => readFileSync(file, "utf8"))
            const { stdout } = yield* sh(`${command.replaceAll("MAIN", main)}; echo tried`, confinement)
            assert.match(stdout, /tried\n$/)
            assert.deepStrictEqual(
              files.map((file) => readFileSync(file, "utf8")),
              before
            )
            assert.isFalse(existsSync(join(main, ".git/hooks/pre-commit")))
          }).pipe(Effect.scoped, Effect.provide(confined))
        )
      }
    }

    it.live("is not committed to in mode read-only", () =>
      Effect.gen(function* () {
        const { confinement, workspace } = yield* linked({ mode: "read-only" })
        const { exitCode } = yield* sh(`git commit --allow-empty -m no; git branch no`, confinement)
        assert.notStrictEqual(exitCode, 0)
        assert.strictEqual(git(workspace, "log", "--oneline", "--all").split("\n").length, 1)
        assert.strictEqual(git(workspace, "branch", "--list", "no"), "")
      }).pipe(Effect.scoped, Effect.provide(confined))
    )
  }
)
