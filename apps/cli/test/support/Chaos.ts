/**
 * What the chaos tests share: numbers that can be repeated, a task that changes the world, and what must hold whatever happened.
 */
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** How often; `pnpm test:chaos` asks for more. */
export const trials = Number(process.env["CHAOS_TRIALS"] ?? 6)
/** CHAOS_SEED repeats a run. */
export const seed = Number(process.env["CHAOS_SEED"] ?? Date.now() % 1_000_000)

/** Mulberry32: small, and the same everywhere. Numbers from 0 to 1. */
export const random = (state: number) => (): number => {
  state = (state + 0x6d2b79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

const look = { name: "read", arguments: { file_path: "world" } }

/** Three rounds of tools for each task, which change the world by `command` and look at it, then an answer in pieces. */
export const script = (
  command: string,
  options: { readonly slow?: boolean; readonly onRequest?: () => void } = {}
): Script.Script => {
  const append = { name: "bash", arguments: { command, description: "Change the world" } }
  return Script.respond((request) => {
    options.onRequest?.()
    const sinceTask = request.messages.slice(request.messages.findLastIndex(({ role }) => role === "user"))
    const rounds = sinceTask.filter(({ role }) => role === "assistant").length
    if (rounds < 3) return Reply.toolCalls([append, look, look], { reasoning: "What now?" })
    const words = Array.from({ length: 40 }, (_, i) => `word ${i} `)
    return Reply.text(words, options.slow === true ? { paceMs: 10 } : {})
  })
}

/** A log up to the end of its last turn: what may never change again. */
const committed = (log: string): string => log.slice(0, log.indexOf("\n", log.lastIndexOf('"type":"turn/end"')) + 1)

export const count = (text: string, part: string): number => text.split(part).length - 1

/** Nothing the model or the world saw is missing from the log, and no turn that ended before has changed. */
export const assertKept = (
  log: string,
  seen: { readonly before: string; readonly requests: number; readonly project: string; readonly where: string }
): void => {
  const { before, project, requests, where } = seen
  assert.isTrue(log.startsWith(committed(before)), `a turn that ended has changed; ${where}`)
  assert.isAtLeast(count(log, '"type":"request/sent"'), requests, `a request is not in the log; ${where}`)
  const world = join(project, "world")
  const changes = existsSync(world) ? count(readFileSync(world, "utf8"), "one") : 0
  assert.isAtLeast(count(log, '"type":"tool/call"'), changes, `a change is not in the log; ${where}`)
}
