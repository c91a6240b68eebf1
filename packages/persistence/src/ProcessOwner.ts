/**
 * Which process owns something that is stored, and whether it is still there to use it. A process that died cannot give back what it
 * held, so whoever comes next has to find that out.
 *
 * An owner is a pid and a host and, where the system tells (Linux), when the process started, so that another process under the same
 * pid is not taken for the owner. Processes on other hosts cannot be looked for: their word stands.
 */
import * as Fs from "node:fs"
import * as Os from "node:os"

export interface Owner {
  readonly pid: number
  readonly host: string
  /** Differs between any two processes that had one pid on one host; absent where the system does not tell. */
  readonly started?: string
}

let own: Owner | undefined

/** This process. */
export const self = (): Owner => {
  if (own === undefined) {
    const started = startOf(process.pid)
    own = { pid: process.pid, host: Os.hostname(), ...(started !== undefined && { started }) }
  }
  return own
}

/** Whether the owner may still use what it owns; true when that cannot be found out. */
export const isAlive = ({ host, pid, started }: Owner): boolean => {
  if (host !== self().host) return true
  try {
    process.kill(pid, 0)
  } catch (error) {
    // Somebody else's process is alive as well.
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false
  }
  const found = startOf(pid)
  return started === undefined || found === undefined || started === found
}

/** The boot, and clock ticks since. */
const startOf = (pid: number): string | undefined => {
  if (process.platform !== "linux") return undefined
  try {
    const boot = Fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
    const stat = Fs.readFileSync(`/proc/${pid}/stat`, "utf8")
    // The name, in parentheses, may hold anything; what follows it begins with the third field.
    const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]
    return ticks === undefined ? undefined : `${boot}:${ticks}`
  } catch {
    return undefined
  }
}
