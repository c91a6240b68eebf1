/**
 * What the tests of batches share: files of tasks, what came out of them, and what the model was asked for which task.
 */
import type { BatchResult } from "@dsh/batch/BatchResult"
import type * as ChatRequest from "@dsh/testing/ChatRequest"
import { Effect } from "effect"
import { existsSync, readFileSync, readdirSync, readlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { Workspace } from "./Workspace.ts"

/** A file of tasks in the project, each of which is to say its number. */
export const file = (workspace: Workspace, count: number, more: object = {}): string => {
  const lines = Array.from({ length: count }, (_, i) => JSON.stringify({ id: `t${i}`, task: `task ${i};`, ...more }))
  const path = join(workspace.project, "tasks.jsonl")
  writeFileSync(path, `${lines.join("\n")}\n`)
  return path
}

export const parse = (text: string): ReadonlyArray<BatchResult> =>
  text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as BatchResult]))

export const results = (path: string): ReadonlyArray<BatchResult> => parse(readFileSync(path, "utf8"))

/** `t3` for a request of the conversation that is about it. */
export const taskOf = ({ messages }: Pick<ChatRequest.ChatRequest, "messages">): string => {
  const [, number = "?"] = /task (\d+);/.exec(messages.find(({ role }) => role === "user")?.text ?? "") ?? []
  return `t${number}`
}

/** How often the model was asked for each task. */
export const requests = (workspace: Workspace): Effect.Effect<ReadonlyMap<string, number>> =>
  Effect.map(workspace.server.requests, (all) => {
    const counts = new Map<string, number>()
    for (const { request } of all) {
      if (request === undefined) continue
      const id = taskOf(request)
      counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    return counts
  })

/** The ids that the journal has a result of, other than that they were cancelled. */
export const finished = (out: string): ReadonlySet<string> => {
  const journal = `${out}.journal`
  const text = existsSync(journal) ? readFileSync(journal, "utf8") : ""
  const ids = new Set<string>()
  for (const line of text.split("\n").slice(0, -1)) {
    const { result, type } = JSON.parse(line)
    if (type === "finished" && result.status !== "cancelled") ids.add(result.id)
  }
  return ids
}

const processesIn = (folder: string): ReadonlyArray<number> =>
  readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      return readlinkSync(`/proc/${name}/cwd`).startsWith(folder) ? [Number(name)] : []
    } catch {
      return []
    }
  })

/** Processes that work in a folder, when whoever ends them has had its time. */
export const orphans = async (folder: string): Promise<ReadonlyArray<number>> => {
  // Elsewhere nobody can ask where a process works.
  if (!existsSync("/proc/self/cwd")) return []
  for (let attempt = 0; ; attempt++) {
    const found = processesIn(folder)
    if (found.length === 0 || attempt === 200) return found
    await sleep(25)
  }
}
