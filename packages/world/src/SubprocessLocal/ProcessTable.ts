/**
 * The process table of Linux, read from /proc: who belongs to which group, who descends from whom, who is only a zombie.
 *
 * Elsewhere the table is unavailable and callers go by the process group alone.
 */
import * as Fs from "node:fs"

export interface Process {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
  readonly zombie: boolean
  /** Together with the pid it names one process for ever: pids are reused, this pair is not. */
  readonly startTime: string
}

const digits = /^\d+$/

/** Undefined when there is no such process, and where there is no /proc. */
export const read = (pid: number | string): Process | undefined => {
  let stat: string
  try {
    stat = Fs.readFileSync(`/proc/${pid}/stat`, "latin1")
  } catch {
    return undefined
  }
  // The second field is the command name in parentheses and may hold anything, spaces and parentheses included.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const [state, parent, group, session] = fields
  const startTime = fields[19]
  if (parent === undefined || group === undefined || session === undefined || startTime === undefined) return undefined
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    zombie: state === "Z" || state === "X",
    startTime
  }
}

/** All processes of this moment; undefined where there is no /proc. */
export const snapshot = (): ReadonlyArray<Process> | undefined => {
  if (process.platform !== "linux") return undefined
  try {
    return Fs.readdirSync("/proc").flatMap((name) => (digits.test(name) ? (read(name) ?? []) : []))
  } catch {
    return undefined
  }
}

/** Whether the very process `known` is still running. */
export const isRunning = (known: Process): boolean => {
  const now = read(known.pid)
  return now !== undefined && now.startTime === known.startTime && !now.zombie
}

/** `root` and everything that descends from it in `table`. */
export const descendants = (table: ReadonlyArray<Process>, root: number): ReadonlyArray<Process> => {
  const children = new Map<number, Array<Process>>()
  for (const entry of table) {
    const siblings = children.get(entry.parent)
    if (siblings === undefined) children.set(entry.parent, [entry])
    else siblings.push(entry)
  }
  const found = table.filter((entry) => entry.pid === root)
  for (const entry of found) found.push(...(children.get(entry.pid) ?? []))
  return found
}
