/**
 * `dsh session search TEXT`: where a text was said or done, in all sessions, last used first.
 */
import * as Text from "@dsh/kernel/Text"
import { textOf } from "@dsh/protocol/Block"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import { Output } from "../Output.ts"
import * as Sessions from "../Sessions.ts"

/** What is shown before and after a place, in characters. */
const context = 50

/**
 * @param text In any case, and otherwise as it stands there.
 * @param json One JSON object per place, for programs.
 */
export const run = (text: string, json: boolean): Command =>
  Sessions.withPersistence((persistence) =>
    Effect.gen(function* () {
      const output = yield* Output
      const wanted = new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "iu")
      const sessions = yield* Sessions.list(persistence)
      let found = 0
      for (const { header } of sessions) {
        // One at a time: a log may be large, and nothing of it is needed for the next.
        const stored = yield* Effect.either(persistence.load(header.id))
        if (Either.isLeft(stored)) {
          output.failure(stored.left)
          continue
        }
        const lines = Array.from(places(stored.right.events, wanted), (place) =>
          json ? JSON.stringify({ id: header.id, ...place }) : toText(header.id, place)
        )
        if (lines.length > 0) yield* output.print(lines.join("\n"))
        found += lines.length
      }
      if (found === 0 && sessions.length > 0) output.notice(`"${text}" is in none of the sessions`)
      return ExitCode.completed
    })
  )

interface Place {
  /** Number of the event. */
  readonly event: number
  readonly who: string
  readonly text: string
}

const toText = (id: string, { event, text, who }: Place): string => `${id}  event ${event}  ${who}: ${text}`

function* places(events: Iterable<SessionEvent>, wanted: RegExp): IterableIterator<Place> {
  for (const event of events) {
    for (const [who, text] of said(event)) {
      const match = wanted.exec(text)
      if (match !== null) {
        yield { event: event.seq, who, text: excerpt(text, match.index, match[0].length) }
      }
    }
  }
}

const said = (event: SessionEvent): ReadonlyArray<readonly [who: string, text: string]> => {
  switch (event.type) {
    case "user/message":
      return [["user", textOf(event.data.content)]]
    case "assistant/message":
      return [["assistant", textOf(event.data.message.content)]]
    case "tool/call":
      return [[event.data.name, event.data.arguments]]
    case "tool/result":
      return [["result", textOf(event.data.message.content[0].content)]]
    default:
      return []
  }
}

const excerpt = (text: string, at: number, length: number): string => {
  const [from, to] = [Math.max(0, at - context), Math.min(text.length, at + length + context)]
  const shown = Text.wellFormed(text.slice(from, to)).replaceAll(/\s+/g, " ").trim()
  return `${from > 0 ? "…" : ""}${shown}${to < text.length ? "…" : ""}`
}
