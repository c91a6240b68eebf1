// A patch is one that git applies, and that leads back when it applies it backwards.
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import { join } from "node:path"
import type { FileState } from "../src/FileChange.ts"
import { absent, digest } from "../src/FileStates.ts"
import * as Patch from "../src/RewindLocal/Patch.ts"
import { folder } from "./support.ts"

interface Side {
  readonly state: FileState
  readonly bytes: Buffer | undefined
}

const file = (text: string | Buffer, mode = 0o644): Side => {
  const bytes = Buffer.from(text as string)
  return { state: { kind: "file", sha256: digest(bytes), size: bytes.length, mode }, bytes }
}
const nothing: Side = { state: absent, bytes: undefined }
const link = (target: string): Side => ({ state: { kind: "symlink", target }, bytes: undefined })

const lay = (root: string, path: string, { bytes, state }: Side) => {
  Fs.rmSync(join(root, path), { force: true })
  if (state.kind === "file") {
    Fs.writeFileSync(join(root, path), bytes!)
    Fs.chmodSync(join(root, path), state.mode)
  }
  if (state.kind === "symlink") Fs.symlinkSync(state.target, join(root, path))
}

const found = (root: string, path: string): string => {
  const stat = Fs.lstatSync(join(root, path), { throwIfNoEntry: false })
  if (stat === undefined) return "nothing"
  if (stat.isSymbolicLink()) return `link ${Fs.readlinkSync(join(root, path))}`
  return `${(stat.mode & 0o100) === 0 ? "file" : "program"} ${Fs.readFileSync(join(root, path), "latin1")}`
}

const lines = fc.array(fc.constantFrom("a", "b", "c", "ü", "", "diff --git", "@@ -1 +1 @@"), { maxLength: 12 })
const text = fc
  .tuple(lines, fc.constantFrom("", "\n"), fc.constantFrom("\n", "\r\n"))
  .map(([all, end, eol]) => all.join(eol) + end)
const side = fc.oneof(
  fc.constant(nothing),
  fc.tuple(text, fc.constantFrom(0o644, 0o755)).map(([content, mode]) => file(content, mode)),
  fc.constantFrom("x", "a/b").map(link)
)

describe("a patch", () => {
  it.scopedLive("is one that git applies, forwards and backwards", () =>
    Effect.gen(function* () {
      const root = yield* folder
      execFileSync("git", ["init", "-q"], { cwd: root })
      const apply = (patch: string, ...args: ReadonlyArray<string>) =>
        execFileSync("git", ["-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", ...args, "-"], {
          cwd: root,
          input: patch,
          stdio: "pipe"
        })
      fc.assert(
        fc.property(side, side, fc.constantFrom("plain", "with space", "ü", 'q"uote'), (before, after, path) => {
          const patch = Patch.of(path, before, after)
          lay(root, path, after)
          const is = found(root, path)
          lay(root, path, before)
          const was = found(root, path)
          if (is === was) return
          apply(patch)
          assert.strictEqual(found(root, path), is)
          apply(patch, "-R")
          assert.strictEqual(found(root, path), was)
          Fs.rmSync(join(root, path), { force: true })
        }),
        { numRuns: 40 }
      )
    })
  )

  it("says of what is no text that it differs, and of folders nothing", () => {
    const binary = Patch.of("a", file(Buffer.from([0, 1])), file(Buffer.from([0, 2])))
    assert.strictEqual(binary, "diff --git a/a b/a\nBinary files a/a and b/a differ\n")
    assert.include(Patch.of("a", { ...file("x"), bytes: undefined }, nothing), "Binary files a/a and /dev/null differ")
    const made: Side = { state: { kind: "directory", mode: 0o755 }, bytes: undefined }
    assert.strictEqual(Patch.of("a", nothing, made), "")
  })
})
