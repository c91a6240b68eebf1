/**
 * What is piped in beside a task: `git diff | dsh run "review this"`.
 *
 * A pipe that stays silent is given up. How soon depends on who holds its other end: another command of a pipeline may well take its
 * time, a program that has started this one would have written by now.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import type * as Failure from "../Failure.ts"
import { Output } from "../Output.ts"
import * as Stdin from "../Stdin.ts"

const pipeline = Duration.seconds(3)
const program = Duration.millis(100)

const purpose: Stdin.Purpose = {
  what: "what is piped in",
  hint: "leave it out with </dev/null"
}

/** Empty when there is nothing. */
export const read = (kind: Exclude<Stdin.Kind, "nothing">): Effect.Effect<string, Failure.Failure, Output> =>
  Effect.gen(function* () {
    if (kind === "file") return yield* Stdin.read(process.stdin, purpose)
    const patience = isOfPipeline() ? pipeline : program
    const text = yield* Stdin.readSoon(process.stdin, purpose, patience)
    if (text !== undefined) return text
    // Where nobody could have meant it nobody needs to hear of it.
    if (patience === pipeline) {
      const output = yield* Output
      output.notice(`nothing arrived on stdin for ${Duration.format(patience)}; going on without it`)
    }
    return ""
  })

/**
 * Whether no ancestor of this process can write to the pipe, so that somebody else will. Where that cannot be seen it is taken to be so.
 */
const isOfPipeline = (): boolean => {
  try {
    const pipe = readlinkSync("/proc/self/fd/0")
    if (pipe.startsWith("socket:")) return false
    for (let pid = process.ppid; pid > 1; pid = parentOf(pid)) if (canWrite(pid, pipe)) return false
    return true
  } catch {
    return true
  }
}

const parentOf = (pid: number): number => {
  // The name of the program is in parentheses, and may have some in it.
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
}

const canWrite = (pid: number, pipe: string): boolean => {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      if (linkOf(`/proc/${pid}/fd/${fd}`) !== pipe) return false
      const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8"))?.[1]
      return flags !== undefined && (Number.parseInt(flags, 8) & 3) !== 0
    })
  } catch {
    // Of another user, or gone.
    return false
  }
}

const linkOf = (path: string): string | undefined => {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
