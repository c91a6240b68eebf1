/**
 * The sessions of a folder, to choose one from.
 */
import { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import type { SessionSummary } from "@dsh/persistence/SessionPersistence"
import { textOf } from "@dsh/protocol/Block"
import type { SessionId } from "@dsh/protocol/Ids"
import type { SelectItem } from "@earendil-works/pi-tui"
import * as Effect from "effect/Effect"
import * as Safe from "./Safe.ts"

/** That many are offered. */
const most = 30
/** A longer log is listed without its first words: they are not worth reading all of it. */
const readable = 4_000_000

/** `5 minutes ago`. */
const ago = (milliseconds: number): string => {
  const minutes = Math.round(milliseconds / 60_000)
  if (minutes < 1) return "just now"
  const [count, unit] =
    minutes < 60
      ? [minutes, "minute"]
      : minutes < 1440
        ? [Math.round(minutes / 60), "hour"]
        : [Math.round(minutes / 1440), "day"]
  return `${count} ${unit}${count === 1 ? "" : "s"} ago`
}

const firstWords = (persistence: SessionPersistence["Type"], { bytes, header }: SessionSummary) =>
  bytes !== undefined && bytes > readable
    ? Effect.succeed(undefined)
    : Effect.map(Effect.option(persistence.load(header.id)), (loaded) => {
        if (loaded._tag === "None") return undefined
        for (const event of loaded.value.events) {
          if (event.type === "user/message" && event.data.source.kind === "user") return textOf(event.data.content)
        }
        return ""
      })

/** Last used first, without the one that is open and those in which nobody said anything. */
export const choices = Effect.fnUntraced(function* (cwd: string, open: SessionId, now: number) {
  const persistence = yield* SessionPersistence
  const { sessions } = yield* Effect.orElseSucceed(persistence.list, () => ({ sessions: [] }))
  const here = sessions.filter(({ header }) => header.cwd === cwd && header.origin === undefined && header.id !== open)
  const items = yield* Effect.forEach(
    here.slice(0, most),
    (summary) =>
      Effect.map(firstWords(persistence, summary), (words): ReadonlyArray<SelectItem> => {
        if (words === "") return []
        const { header, updatedAt } = summary
        const label = words === undefined ? header.id : Safe.oneLine(words).slice(0, 200)
        return [{ value: header.id, label, description: ago(now - updatedAt) }]
      }),
    { concurrency: 4 }
  )
  return items.flat()
})
