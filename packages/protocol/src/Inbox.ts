/**
 * Pending input, folded from the log: two ordered lists of messages that were accepted and have not entered a step.
 *
 * `next-turn` holds prompts, one per turn; `next-step` holds what joins the next request. A message leaves by a splice that removes
 * it or by its own `user/message` event, so it is in the history or pending, whatever happens in between.
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import type { MessageId } from "./Ids.ts"
import type { UserMessage } from "./Message.ts"
import type { InboxSplice, InboxTarget, SessionEvent } from "./SessionEvent.ts"

export class InvalidSplice extends Data.TaggedError("InvalidSplice")<{
  readonly seq: number
  readonly reason: string
}> {
  readonly code = "INVALID_INBOX_SPLICE"
  override get message(): string {
    return `event ${this.seq} does not fit the pending input: ${this.reason}`
  }
}

export interface Inbox {
  readonly "next-turn": ReadonlyArray<UserMessage>
  readonly "next-step": ReadonlyArray<UserMessage>
}

export const empty: Inbox = { "next-turn": [], "next-step": [] }

/** Whether anything is pending. */
export const hasWork = (inbox: Inbox): boolean => inbox["next-turn"].length > 0 || inbox["next-step"].length > 0

/** Where a pending message stands. */
export const find = (
  inbox: Inbox,
  id: MessageId
): { readonly target: InboxTarget; readonly index: number } | undefined => {
  for (const target of ["next-step", "next-turn"] as const) {
    const index = inbox[target].findIndex((message) => message.id === id)
    if (index >= 0) return { target, index }
  }
  return undefined
}

/** The inbox after `splice`, or why it does not fit. */
export const splice = (inbox: Inbox, data: InboxSplice): Either.Either<Inbox, string> => {
  const list = inbox[data.target]
  const removed = data.removedCount ?? 0
  if (!isCount(data.start) || !isCount(removed) || data.start + removed > list.length) {
    return Either.left(`${data.target} has ${list.length} messages, it splices ${data.start}+${removed}`)
  }
  const kept = [...list.slice(0, data.start), ...list.slice(data.start + removed)]
  const seen = new Set<MessageId>([...kept, ...inbox[other(data.target)]].map((message) => message.id))
  for (const message of data.inserted) {
    if (seen.has(message.id)) return Either.left(`message ${message.id} is already pending`)
    seen.add(message.id)
  }
  return Either.right({ ...inbox, [data.target]: kept.toSpliced(data.start, 0, ...data.inserted) })
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

const other = (target: InboxTarget): InboxTarget => (target === "next-turn" ? "next-step" : "next-turn")

/** The inbox without the message `id`, the same object when it is not pending. */
export const without = (inbox: Inbox, id: MessageId): Inbox => {
  const found = find(inbox, id)
  return found === undefined ? inbox : { ...inbox, [found.target]: inbox[found.target].toSpliced(found.index, 1) }
}

/** The inbox after one more event of the log. */
export const apply = (inbox: Inbox, event: SessionEvent): Either.Either<Inbox, InvalidSplice> => {
  if (event.type === "user/message") return Either.right(without(inbox, event.data.id))
  if (event.type !== "agent/inbox/spliced") return Either.right(inbox)
  return Either.mapLeft(splice(inbox, event.data), (reason) => new InvalidSplice({ seq: event.seq, reason }))
}
