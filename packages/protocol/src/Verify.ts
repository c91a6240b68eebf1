/**
 * Proof of the one law: every request of a session, built again from its log and compared with the digest of what was sent.
 */
import * as Conversation from "./Conversation.ts"
import type { RequestFormat } from "./Request.ts"
import { isRecovered } from "./Interrupted.ts"
import * as RequestBody from "./RequestBody.ts"
import type { SessionEvent, SessionEvents } from "./SessionEvent.ts"

export interface VerifiedRequest {
  readonly seq: number
  readonly turn: number
  readonly step: number
  readonly attempt: number
  readonly bytes: number
  readonly of: "wire" | "neutral"
  /** Why the rebuilt request is not the one that was sent; absent when it is, byte for byte. */
  readonly problem?: string
  /** The reason is known: events before it could not be read back (`session/lost`), so it cannot be rebuilt. */
  readonly isLost?: true
}

/** One line per request of the log, in order. Lazy, so that huge logs can be verified as they are read. */
export function* verify(
  events: Iterable<SessionEvent>,
  formatOf: (name: string) => RequestFormat | undefined,
  newHash: () => RequestBody.Hasher
): IterableIterator<VerifiedRequest> {
  const conversation = Conversation.empty()
  // Unknown formats are reported before this is asked.
  const body = RequestBody.make((name) => formatOf(name) ?? unknownFormat(name), newHash)
  // Whoever goes on with a damaged log builds its requests from what is left of it.
  let anyLost = false
  const told = (facts: VerifiedRequest, problem: string): VerifiedRequest => ({
    ...facts,
    problem,
    ...(anyLost && { isLost: true })
  })
  for (const event of events) {
    conversation.apply(event)
    if (event.type === "session/lost" || isRecovered(event)) anyLost = true
    if (event.type === "session/end-seed") anyLost = false
    if (event.type !== "request/sent") continue
    const { attempt, bytes, of, step, turn } = event.data
    const facts = { seq: event.seq, turn, step, attempt, bytes, of }
    const { header } = conversation
    if (header === undefined) {
      yield told(facts, "no request/header precedes it")
    } else if (formatOf(header.wire.format) === undefined) {
      yield told(facts, `the format "${header.wire.format}" is not installed`)
    } else {
      const problem = difference(body.render(header, conversation), event.data)
      yield problem === undefined ? facts : told(facts, problem)
    }
  }
}

const difference = (rebuilt: RequestBody.RenderedRequest, sent: SessionEvents["request/sent"]): string | undefined => {
  if (rebuilt.of !== sent.of) return `it is recorded as ${sent.of}, and its format is ${rebuilt.of}`
  if (rebuilt.sha256 === sent.sha256 && rebuilt.bytes.length === sent.bytes) return undefined
  return `the log rebuilds ${rebuilt.bytes.length} other bytes (${sent.bytes} were sent)`
}

const unknownFormat = (name: string): RequestFormat => {
  throw new Error(`request format "${name}" is not installed`)
}
