/**
 * Tells a person who looks elsewhere that a turn is over or that a question waits, in the ways that their settings name.
 */
import type { News } from "@dsh/notifications/Notifications"
import type { TurnEndReason } from "@dsh/protocol/SessionEvent"
import * as Effect from "effect/Effect"
import * as Failure from "../Failure.ts"
import * as HomeFolder from "../HomeFolder.ts"
import * as Safe from "./Safe.ts"
import type { View } from "./View.ts"

/** Succeeds with what did not work, in a sentence for people. */
export type Tell = (news: News) => Effect.Effect<string | undefined>

const nobody: Tell = () => Effect.succeed(undefined)

/** @param ring Rings the bell of the terminal. */
export const load = (ring: () => void): Effect.Effect<Tell, Failure.Failure> =>
  Effect.gen(function* () {
    const folder = yield* HomeFolder.withSettings
    if (folder === undefined) return nobody
    const { read } = yield* Effect.promise(() => import("./News/FromSettings.ts"))
    return yield* Effect.mapError(read(folder, ring), ({ code, message }) => Failure.configuration(code, message))
  }).pipe(Effect.map((tell) => tell ?? nobody))

/** What there is to tell of the end of a turn; nothing of one that the person ended. */
export const ofTurn = (reason: TurnEndReason, { items }: View): Pick<News, "event" | "message"> | undefined => {
  if (reason.kind === "aborted" && reason.reason.kind === "user") return undefined
  if (reason.kind === "error") return { event: "failed", message: Safe.oneLine(reason.error.message) }
  const answer = items.findLast(({ kind }) => kind === "answer")
  const message = answer !== undefined && "text" in answer ? Safe.oneLine(answer.text).slice(0, 200) : reason.kind
  return { event: reason.kind === "completed" ? "completed" : "failed", message }
}
