/**
 * `/rewind`: back to an earlier turn, from within the session.
 */
import * as Commands from "@dsh/commands/Commands"
import type { Result } from "@dsh/commands/Commands"
import * as Effect from "effect/Effect"
import { Rewind } from "./Rewind.ts"
import type { Outcome, Point } from "./Rewind.ts"

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`

/** In one line. */
const describe = ({ files, prompt, turn }: Point): string =>
  `turn ${turn}: ${prompt}${files.length === 0 ? "" : ` (${counted(files.length, "file")})`}`

const when = (turn: number): string => (turn === 0 ? "before the first turn" : `at the end of turn ${turn}`)

const done = (outcome: Outcome, what: string): string => {
  const left = outcome.files.filter(({ obstacle }) => obstacle !== undefined)
  return [
    `back at what was ${when(outcome.turn)}: ${counted(outcome.restored.length, "file")} restored`,
    ...left.map(({ obstacle, path }) => `left ${path}: ${obstacle?.reason}`),
    ...outcome.failed.map(({ path, reason }) => `failed ${path}: ${reason}`),
    `/rewind ${outcome.undo}${what === "" ? "" : ` ${what}`} takes this back`
  ].join("\n")
}

export const layer = Commands.layerCommand({
  name: "rewind",
  description: "Go back to the end of an earlier turn: files, conversation or both.",
  input: { hint: "[TURN [files|conversation]]" },
  handler: ({ agent: { session }, rawInput }) =>
    Effect.gen(function* () {
      const rewind = yield* Rewind
      const wanted = rawInput.trim()
      if (wanted === "") {
        const points = (yield* rewind.points(session.id)).filter(({ isVisible }) => isVisible)
        const text = points.length === 0 ? "there is no turn to go back to yet" : points.map(describe).join("\n")
        return { kind: "success", text } satisfies Result
      }
      const [, turn, what = ""] = /^(\d{1,9})(?:\s+(files|conversation))?$/.exec(wanted) ?? []
      if (turn === undefined) {
        return {
          kind: "error",
          text: "/rewind takes the number of a turn, 0 for before the first, and files or conversation for only one of the two"
        } satisfies Result
      }
      const outcome = yield* rewind.rewind({
        session: session.id,
        turn: Number(turn),
        files: what !== "conversation",
        conversation: what !== "files"
      })
      return { kind: "success", text: done(outcome, what) } satisfies Result
    }).pipe(Effect.catchTag("RewindError", ({ message }) => Effect.succeed<Result>({ kind: "error", text: message })))
})
