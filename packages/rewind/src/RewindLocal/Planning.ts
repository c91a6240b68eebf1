/**
 * What has to be done to the files of a workspace so that they are what they were at the end of a turn, and what is in the way of it.
 */
import { realpathSync } from "node:fs"
import { dirname, join } from "node:path"
import type { FileState } from "../FileChange.ts"
import * as FileStates from "../FileStates.ts"
import * as History from "../History.ts"
import type { FileStep, Obstacle } from "../Rewind.ts"
import type { Snapshots } from "../Snapshots.ts"

interface Target {
  /** The workspace, canonical. */
  readonly folder: string
  /** How many events of the log count. */
  readonly events: number
  readonly force: boolean
}

export const plan = (
  { changes }: History.History,
  { events, folder, force }: Target,
  snapshots: Snapshots
): ReadonlyArray<FileStep> => {
  const steps: Array<FileStep> = []
  for (const [path, since] of History.byPath(changes, ({ seq }) => seq >= events)) {
    const to = since[0].before
    const from = FileStates.of(join(folder, path))
    if (FileStates.equal(from, to)) continue
    const obstacle = missing(to, snapshots) ?? unreachable(folder, path) ?? (force ? undefined : foreign(since, from))
    steps.push({ path, from, to, ...(obstacle !== undefined && { obstacle }) })
  }
  return steps.map((step) => {
    const held = step.obstacle === undefined ? inhabited(step, folder, steps) : undefined
    return held === undefined ? step : { ...step, obstacle: held }
  })
}

interface InTheWay {
  readonly kind: Obstacle
  readonly reason: string
}

const missing = (to: FileState, snapshots: Snapshots): InTheWay | undefined => {
  if (to.kind === "unknown") return { kind: "not-kept", reason: `what was there is not kept: ${to.reason}` }
  if (to.kind !== "file" || snapshots.has(to.sha256)) return undefined
  return { kind: "not-kept", reason: `its ${to.size} bytes of then are not kept` }
}

/** A link that is a folder on the way would lead somewhere else. */
const unreachable = (folder: string, path: string): InTheWay | undefined => {
  for (let above = dirname(path); above !== "."; above = dirname(above)) {
    const absolute = join(folder, above)
    const stat = FileStates.lstat(absolute)
    if (stat === undefined) continue
    if (stat.isDirectory() && realpathSync(absolute) === absolute) return undefined
    // Whoever put something else there took the folder away, which is a step of its own.
    if (!stat.isSymbolicLink()) return undefined
    return { kind: "out-of-reach", reason: `${above} is a link now` }
  }
  return undefined
}

const foreign = (
  since: readonly [History.LoggedChange, ...Array<History.LoggedChange>],
  from: FileState
): InTheWay | undefined => {
  for (let n = 1; n < since.length; n++) {
    const [earlier, later] = [since[n - 1]!, since[n]!]
    if (!leads(earlier, later.before)) {
      const between = `after turn ${earlier.turn}`
      return { kind: "changed-since", reason: `somebody else changed it ${between}, before this session did again` }
    }
  }
  const last = since[since.length - 1]!
  return leads(last, from)
    ? undefined
    : { kind: "changed-since", reason: `somebody else changed it after turn ${last.turn}` }
}

/** Whether the change can have left this behind. One that is logged before it happens may never have happened. */
const leads = ({ after, before, by }: History.LoggedChange, found: FileState): boolean =>
  FileStates.equal(after, found) || (by.kind !== "command" && FileStates.equal(before, found))

/** A folder goes only when it is empty then. */
const inhabited = (step: FileStep, folder: string, steps: ReadonlyArray<FileStep>): InTheWay | undefined => {
  if (step.from.kind !== "directory" || step.to.kind === "directory") return undefined
  const going = new Set(
    steps.filter(({ obstacle, to }) => obstacle === undefined && to.kind === "absent").map(({ path }) => path)
  )
  const stays = FileStates.pathsBelow(folder, step.path).find((path) => !going.has(path))
  return stays === undefined ? undefined : { kind: "out-of-reach", reason: `it holds ${stays}, which stays` }
}
