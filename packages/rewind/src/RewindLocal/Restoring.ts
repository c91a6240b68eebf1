/**
 * Putting files back, each at once or not at all. A step is done only while its path is what the plan has seen there, and only below the
 * workspace.
 */
import * as Fs from "node:fs"
import { dirname, join } from "node:path"
import type { FileState } from "../FileChange.ts"
import * as FileStates from "../FileStates.ts"
import type { FileStep } from "../Rewind.ts"
import type { Snapshots } from "../Snapshots.ts"

export interface Restored {
  readonly restored: ReadonlyArray<string>
  readonly failed: ReadonlyArray<{ readonly path: string; readonly reason: string }>
}

const kinds = { absent: "nothing", file: "a file", symlink: "a link", directory: "a folder", unknown: "something else" }

/** In an order in which folders are empty when they go, and there when something goes into them. */
export const restore = (folder: string, steps: ReadonlyArray<FileStep>, snapshots: Snapshots): Restored => {
  const failed = new Map<string, string>()
  const attempt = (step: FileStep, act: (absolute: string) => void) => {
    if (failed.has(step.path)) return
    try {
      act(join(folder, step.path))
    } catch (cause) {
      failed.set(step.path, cause instanceof Error ? cause.message : String(cause))
    }
  }
  const upwards = [...steps].sort((a, b) => (a.path < b.path ? 1 : -1))
  const downwards = upwards.toReversed()

  for (const step of upwards) {
    attempt(step, (absolute) => {
      // Something that is to go may be where its folder was.
      if (step.from.kind !== "absent") reach(absolute)
      leave(absolute, step)
    })
  }
  for (const step of downwards) {
    const { to } = step
    if (to.kind !== "directory") continue
    attempt(step, (absolute) => {
      makeRoom(absolute)
      // Others are put into it first.
      if (step.from.kind === "directory") Fs.chmodSync(absolute, to.mode | 0o700)
      else Fs.mkdirSync(absolute, { mode: to.mode | 0o700 })
    })
  }
  for (const step of downwards) {
    if (step.to.kind === "file" || step.to.kind === "symlink") {
      attempt(step, (absolute) => {
        makeRoom(absolute)
        put(absolute, step.to, snapshots)
      })
    }
  }
  for (const step of upwards) {
    const { to } = step
    if (to.kind === "directory") attempt(step, (absolute) => Fs.chmodSync(absolute, to.mode))
  }

  return {
    restored: steps.map(({ path }) => path).filter((path) => !failed.has(path)),
    failed: [...failed].map(([path, reason]) => ({ path, reason }))
  }
}

/** Fails when a link leads elsewhere on the way to it. */
const reach = (absolute: string): void => {
  const above = dirname(absolute)
  if (Fs.realpathSync(above) !== above) throw new Error("a link leads out of its folder")
}

const makeRoom = (absolute: string): void => {
  Fs.mkdirSync(dirname(absolute), { recursive: true })
  reach(absolute)
}

/** Takes away what cannot be replaced at once. */
const leave = (absolute: string, { from, to }: FileStep): void => {
  const found = FileStates.of(absolute)
  if (!FileStates.equal(found, from)) throw new Error(`it changed a moment ago: ${kinds[found.kind]} is there now`)
  if (from.kind === "directory") {
    if (to.kind !== "directory") Fs.rmdirSync(absolute)
  } else if (to.kind === "absent" || to.kind === "directory") {
    Fs.rmSync(absolute, { force: true })
  }
}

const put = (absolute: string, to: FileState, snapshots: Snapshots): void => {
  // The same for the same file: what a killed process left is taken up by the next.
  const partial = join(dirname(absolute), `.dsh-rewind-${FileStates.digest(Buffer.from(absolute)).slice(0, 12)}`)
  try {
    Fs.rmSync(partial, { force: true })
    if (to.kind === "symlink") Fs.symlinkSync(to.target, partial)
    if (to.kind === "file") {
      const bytes = snapshots.get(to.sha256)
      if (bytes === undefined) throw new Error("what is kept of it is damaged")
      Fs.writeFileSync(partial, bytes, { flag: "wx", mode: 0o600 })
      Fs.chmodSync(partial, to.mode)
    }
    Fs.renameSync(partial, absolute)
  } catch (cause) {
    Fs.rmSync(partial, { force: true })
    throw cause
  }
}
