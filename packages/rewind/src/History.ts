/**
 * A session as turns one can go back to, and what became of its files; folded from the log.
 */
import { textOf } from "@dsh/protocol/Block"
import * as Conversation from "@dsh/protocol/Conversation"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import type { ChangedBy, FileChange } from "./FileChange.ts"

export interface Turn {
  readonly turn: number
  /** Epoch milliseconds. */
  readonly time: number
  readonly prompt: string
  /** The seq of its first event. */
  readonly start: number
  /** The number of events of the log up to its end; undefined while it is open. */
  readonly end: number | undefined
}

export interface LoggedChange extends FileChange {
  readonly seq: number
  /** That it stands in, else the last one before it. */
  readonly turn: number
  readonly by: ChangedBy
}

export interface History {
  readonly turns: ReadonlyArray<Turn>
  readonly changes: ReadonlyArray<LoggedChange>
  /** Numbers of the turns that the model sees any of. */
  readonly visible: ReadonlySet<number>
  /** The turn at whose end the conversation is, and that at whose end the files are. */
  readonly at: { readonly conversation: number; readonly files: number }
}

const longestPrompt = 100

export const of = (events: Iterable<SessionEvent>): History => {
  const turns: Array<Turn> = []
  const changes: Array<LoggedChange> = []
  const conversation = Conversation.empty()
  let at = { conversation: 0, files: 0 }
  for (const event of events) {
    conversation.apply(event)
    const last = turns[turns.length - 1]
    switch (event.type) {
      case "turn/start":
        turns.push({ turn: event.data.turn, time: event.time, prompt: "", start: event.seq, end: undefined })
        at = { conversation: event.data.turn, files: event.data.turn }
        break
      case "turn/end":
        if (last !== undefined) turns[turns.length - 1] = { ...last, end: event.seq + 1 }
        break
      case "user/message":
        if (last !== undefined && last.end === undefined && last.prompt === "" && event.data.source.kind === "user") {
          turns[turns.length - 1] = { ...last, prompt: shortened(textOf(event.data.content)) }
        }
        break
      case "session/rewound":
        at = { ...at, conversation: event.data.turn }
        break
      case "files/changed": {
        const { by, changes: some } = event.data
        const turn = last?.turn ?? 0
        for (const change of some) changes.push({ ...change, seq: event.seq, turn, by })
        if (by.kind === "rewind") at = { ...at, files: by.turn }
        break
      }
    }
  }
  return { turns, changes, visible: visible(turns, conversation), at }
}

/** As it would be seen after going back to the first `length` events. */
export const visibleAfter = (
  turns: ReadonlyArray<Turn>,
  events: ReadonlyArray<SessionEvent>,
  target: { readonly turn: number; readonly events: number }
): ReadonlySet<number> => {
  const conversation = Conversation.empty()
  for (const event of events) conversation.apply(event)
  conversation.apply({ type: "session/rewound", seq: events.length, time: 0, data: target })
  return visible(turns, conversation)
}

const visible = (turns: ReadonlyArray<Turn>, { nodes }: Conversation.Conversation): ReadonlySet<number> =>
  new Set(
    turns
      .filter(({ end = Number.POSITIVE_INFINITY, start }) => nodes.some(({ seq }) => start <= seq && seq < end))
      .map(({ turn }) => turn)
  )

/** How many events there were at the end of the turn; undefined when there is no such turn, or it is open. */
export const endOf = ({ turns }: History, turn: number): number | undefined =>
  turn === 0 ? (turns[0]?.start ?? 0) : turns.find((one) => one.turn === turn)?.end

/** By path, the changes that `keep` wants, in order. */
export const byPath = (
  changes: ReadonlyArray<LoggedChange>,
  keep: (change: LoggedChange) => boolean
): ReadonlyMap<string, readonly [LoggedChange, ...Array<LoggedChange>]> => {
  const paths = new Map<string, [LoggedChange, ...Array<LoggedChange>]>()
  for (const change of changes) {
    if (!keep(change)) continue
    const known = paths.get(change.path)
    if (known === undefined) paths.set(change.path, [change])
    else known.push(change)
  }
  return new Map([...paths].sort(([a], [b]) => (a < b ? -1 : 1)))
}

const shortened = (text: string): string => {
  const line = text.replace(/\s+/g, " ").trim()
  return line.length > longestPrompt ? `${[...line].slice(0, longestPrompt - 1).join("")}…` : line
}
