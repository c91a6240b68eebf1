/**
 * Whether a process group waits for input from its terminal: one of its threads is in a system call that waits for a descriptor that is
 * the terminal. Read from /proc; where that cannot be read, nothing is known.
 */
import * as Fs from "node:fs"
import type { InputWait } from "../../Subprocess.ts"

/** `/dev/tty`. */
const ownTerminal = 0x500

type Call = "read" | "poll" | "select" | "epoll"

const tables: Readonly<Record<string, ReadonlyMap<string, Call>>> = {
  x64: new Map<string, Call>([
    ["0", "read"],
    ["19", "read"],
    ["7", "poll"],
    ["271", "poll"],
    ["23", "select"],
    ["270", "select"],
    ["232", "epoll"],
    ["281", "epoll"],
    ["441", "epoll"]
  ]),
  arm64: new Map<string, Call>([
    ["63", "read"],
    ["65", "read"],
    ["73", "poll"],
    ["72", "select"],
    ["22", "epoll"],
    ["441", "epoll"]
  ])
}
const table = process.platform === "linux" ? tables[process.arch] : undefined

/** @param root An ancestor of all of the group, on the same terminal. See `Foreground.waiting`. */
export const of = (group: number, root: number): InputWait | false | undefined => {
  // As it is now: a program that has just been started is not on its terminal yet.
  const terminal = statOf(root)?.terminal
  if (table === undefined || terminal === undefined || terminal === 0) return undefined
  let known = false
  let listens: InputWait | false = false
  for (const pid of members(group, root)) {
    for (const thread of threads(pid)) {
      const call = text(`/proc/${pid}/task/${thread}/syscall`)
      if (call === undefined) continue
      known = true
      const waited = waitedFor(pid, call).map((fd) => attempt(() => Fs.statSync(`/proc/${pid}/fd/${fd}`).rdev))
      const terminals = waited.filter((device) => device === terminal || device === ownTerminal)
      if (terminals.length === 0) continue
      const wait = { id: `${pid}/${thread}/${switches(pid, thread)}`, only: terminals.length === waited.length }
      if (wait.only) return wait
      listens = wait
    }
  }
  return known ? listens : undefined
}

const members = (group: number, root: number): ReadonlyArray<number> => {
  const family = [root]
  for (const pid of family) {
    for (const thread of threads(pid)) {
      const children = text(`/proc/${pid}/task/${thread}/children`)?.trim() ?? ""
      if (children !== "") family.push(...children.split(" ").map(Number))
    }
  }
  return family.filter((pid) => statOf(pid)?.group === group)
}

const statOf = (pid: number) => {
  const stat = text(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  const [, , group, , terminal] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return { group: Number(group), terminal: Number(terminal) }
}

const threads = (pid: number): ReadonlyArray<string> => attempt(() => Fs.readdirSync(`/proc/${pid}/task`)) ?? []

/** Grows whenever the thread goes on. */
const switches = (pid: number, thread: string): string =>
  text(`/proc/${pid}/task/${thread}/status`)
    ?.match(/ctxt_switches:\s*\d+/g)
    ?.join() ?? ""

/** Descriptors that a thread waits for input from, by what it has called: the number of the call and its arguments. */
const waitedFor = (pid: number, call: string): ReadonlyArray<number> => {
  const [number = "", ...args] = call.trim().split(" ")
  const arg = (n: number) => BigInt(args[n] ?? 0)
  switch (table?.get(number)) {
    case "read":
      return [Number(arg(0))]
    case "poll":
      return polled(memory(pid, arg(0), Number(arg(1)) * 8))
    case "select":
      return selected(memory(pid, arg(1), Math.ceil(Number(arg(0)) / 64) * 8))
    case "epoll":
      return [...(text(`/proc/${pid}/fdinfo/${arg(0)}`) ?? "").matchAll(/^tfd:\s*(\d+)/gm)].map(([, fd]) => Number(fd))
    case undefined:
      return []
  }
}

const POLLIN = 1

/** Of an array of `struct pollfd`. */
const polled = (bytes: Buffer): ReadonlyArray<number> => {
  const found: Array<number> = []
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    if ((bytes.readInt16LE(at + 4) & POLLIN) !== 0) found.push(bytes.readInt32LE(at))
  }
  return found
}

/** Of an `fd_set`. */
const selected = (bytes: Buffer): ReadonlyArray<number> =>
  [...bytes].flatMap((byte, n) => [0, 1, 2, 3, 4, 5, 6, 7].flatMap((bit) => ((byte >> bit) & 1 ? n * 8 + bit : [])))

const longestLook = 8192

const memory = (pid: number, address: bigint, size: number): Buffer =>
  attempt(() => {
    const file = Fs.openSync(`/proc/${pid}/mem`, "r")
    try {
      const bytes = Buffer.alloc(Math.min(size, longestLook))
      return bytes.subarray(0, Fs.readSync(file, bytes, 0, bytes.length, address))
    } finally {
      Fs.closeSync(file)
    }
  }) ?? Buffer.alloc(0)

const text = (path: string): string | undefined => attempt(() => Fs.readFileSync(path, "latin1"))

// A process may be gone, or nobody's business, at any moment.
const attempt = <A>(look: () => A): A | undefined => {
  try {
    return look()
  } catch {
    return undefined
  }
}
