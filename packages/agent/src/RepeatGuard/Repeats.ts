/**
 * How often the latest tool calls of a session have repeated themselves, folded from its log.
 *
 * A call is repeated when the name, the arguments and the result are those of the call before it, or of the call up to four before it: a
 * model that goes in circles may do so over several calls. A result that differs is news, so waiting for something to change is no
 * repetition for as long as something does.
 */
import type { Json } from "@dsh/kernel/Json"
import * as JsonValue from "@dsh/kernel/Json"
import type { ContentBlock } from "@dsh/protocol/Block"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"

export interface Call {
  readonly name: string
  /** Canonical JSON; what is no JSON stays as it is. */
  readonly args: string
  /** Waits before it looks. */
  readonly isPolling: boolean
}

interface Done extends Call {
  readonly content: ReadonlyArray<ContentBlock>
}

/** The calls that are repeated, in order, and how often they were made. */
export interface Repetition {
  readonly calls: ReadonlyArray<Call>
  readonly times: number
}

const longestPeriod = 4
const none: Repetition = { calls: [], times: 0 }

export class Repeats {
  readonly #plugin: string
  readonly #isWatched: (name: string) => boolean
  readonly #open = new Map<string, Call>()
  /** The latest first. */
  #done: ReadonlyArray<Done> = []
  /** By period: how many calls in a row were like the one that long before them. */
  #runs: ReadonlyArray<number> = []
  #reminded = 0

  /** @param plugin The source of reminders. */
  constructor(plugin: string, isWatched: (name: string) => boolean) {
    this.#plugin = plugin
    this.#isWatched = isWatched
  }

  /** The times of the last reminder of what is being repeated; 0 without one. */
  get reminded(): number {
    return this.#reminded
  }

  apply(event: SessionEvent): void {
    if (event.type === "user/message") {
      const { source } = event.data
      if (source.kind === "user") this.#reset()
      else if (source.kind === "plugin" && source.plugin === this.#plugin) this.#reminded = this.current().times
    } else if (event.type === "tool/call") {
      const { arguments: args, callId, name } = event.data
      if (this.#isWatched(name)) this.#open.set(callId, callOf(name, args))
    } else if (event.type === "tool/result") {
      const [{ content, toolCallId }] = event.data.message.content
      const call = this.#open.get(toolCallId)
      this.#open.delete(toolCallId)
      if (call !== undefined) this.#take({ ...call, content })
    }
  }

  /** What repeats itself most. */
  current(): Repetition {
    let most = none
    for (const [i, run] of this.#runs.entries()) {
      const period = i + 1
      const times = 1 + Math.floor(run / period)
      if (times > most.times) most = { calls: this.#done.slice(0, period).toReversed(), times }
    }
    return most
  }

  #take(call: Done): void {
    this.#runs = Array.from({ length: longestPeriod }, (_, i) => {
      const before = this.#done[i]
      return before !== undefined && isSame(before, call) ? (this.#runs[i] ?? 0) + 1 : 0
    })
    this.#done = [call, ...this.#done].slice(0, longestPeriod)
    if (this.current().times < this.#reminded) this.#reminded = 0
  }

  #reset(): void {
    this.#open.clear()
    this.#done = []
    this.#runs = []
    this.#reminded = 0
  }
}

const isSame = (a: Done, b: Done): boolean =>
  a.name === b.name && a.args === b.args && JsonValue.equals(jsonOf(a.content), jsonOf(b.content))

/** What is in the log is plain JSON. */
const jsonOf = (content: ReadonlyArray<ContentBlock>) => content as unknown as Json

const callOf = (name: string, raw: string): Call => {
  let args: Json
  try {
    args = JSON.parse(raw) as Json
  } catch {
    return { name, args: raw, isPolling: false }
  }
  return { name, args: JSON.stringify(sorted(args)), isPolling: isPolling(args) }
}

const sorted = (value: Json): Json => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)])
  )
}

const sleep = /(^|[\s;&|({])sleep\s+[\d.$]/

const isPolling = (args: Json): boolean => {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return false
  const command = Object.hasOwn(args, "command") ? (args as { readonly [key: string]: Json })["command"] : undefined
  return typeof command === "string" && sleep.test(command)
}
