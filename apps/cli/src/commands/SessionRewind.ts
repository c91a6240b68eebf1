/**
 * `dsh session rewind ID[@TURN]`: back to the end of an earlier turn. Says what that means and asks, unless told not to.
 */
import { SessionId } from "@dsh/protocol/Ids"
import type { FileStep, Outcome, Plan, Rewind } from "@dsh/rewind/Rewind"
import * as Effect from "effect/Effect"
import * as Confirm from "../Confirm.ts"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Failure from "../Failure.ts"
import { Output } from "../Output.ts"
import type { SessionRewind } from "../Request.ts"
import * as Rewinding from "../Rewinding.ts"

export const run = (asked: SessionRewind): Command =>
  Rewinding.withRewind((rewind) =>
    Effect.gen(function* () {
      const output = yield* Output
      const session = SessionId(asked.id)
      const turn = asked.at ?? (yield* before(rewind, session))
      const both = asked.files === asked.conversation
      const request = {
        session,
        turn,
        files: both || asked.files,
        conversation: both || asked.conversation,
        force: asked.force
      }
      const plan = yield* rewind.plan(request)
      if (asked.dryRun) {
        yield* output.print(planned(plan).join("\n"))
        return ExitCode.completed
      }
      const isThere = plan.files.length + plan.hidden.length + plan.shown.length === 0
      if (isThere) {
        output.notice(`everything is as it was ${when(turn)}`)
        return ExitCode.completed
      }
      if (!asked.yes) {
        for (const line of planned(plan)) output.notice(line)
        const answer = yield* Confirm.ask(`rewind session ${asked.id}?`)
        if (answer === undefined) {
          return yield* Failure.usage(
            `nobody can be asked here; "dsh session rewind ${asked.id}@${turn} --yes" does not ask, --dry-run says what it would do`
          )
        }
        if (!answer) {
          output.notice("nothing was changed")
          return ExitCode.failed
        }
      }
      const outcome = yield* rewind.rewind(request)
      yield* output.print(done(outcome).join("\n"))
      const flags = both ? "" : request.files ? " --files" : " --conversation"
      output.notice(`to take this back: dsh session rewind ${asked.id}@${outcome.undo}${flags}`)
      const isWhole = outcome.failed.length === 0 && outcome.files.every(({ obstacle }) => obstacle === undefined)
      return isWhole ? ExitCode.completed : ExitCode.failed
    })
  )

/** The turn before the last one that the model sees. */
const before = (rewind: Rewind["Type"], session: SessionId) =>
  Effect.flatMap(rewind.points(session), (points) => {
    const visible = points.filter(({ isVisible }) => isVisible)
    return visible.length === 0
      ? Effect.fail(Failure.usage(`there is no turn that session ${session} could go back from`))
      : Effect.succeed(visible.at(-2)?.turn ?? 0)
  })

const when = (turn: number): string => (turn === 0 ? "before the first turn" : `at the end of turn ${turn}`)

const planned = (plan: Plan): ReadonlyArray<string> => [
  `session ${plan.session}, back to what was ${when(plan.turn)}:`,
  ...conversation(plan).map((line) => `  ${line}`),
  ...plan.files.map((step) => `  ${step.obstacle === undefined ? action(step) : left(step, step.obstacle)}`),
  ...(plan.files.length + plan.hidden.length + plan.shown.length === 0 ? ["  nothing is different"] : [])
]

const done = (outcome: Outcome): ReadonlyArray<string> => {
  const restored = new Set(outcome.restored)
  return [
    `session ${outcome.session} is back at what was ${when(outcome.turn)}`,
    ...conversation(outcome).map((line) => `  ${line}`),
    ...outcome.files.flatMap((step) => {
      if (step.obstacle !== undefined) return [`  ${left(step, step.obstacle)}`]
      return restored.has(step.path) ? [`  ${action(step)}`] : []
    }),
    ...outcome.failed.map(({ path, reason }) => `  failed   ${path}: ${reason}`)
  ]
}

const conversation = ({ hidden, shown }: Plan): ReadonlyArray<string> => [
  ...(hidden.length === 0 ? [] : [`forget   ${turns(hidden)}`]),
  ...(shown.length === 0 ? [] : [`recall   ${turns(shown)}`])
]

const turns = (numbers: ReadonlyArray<number>): string =>
  `${numbers.length === 1 ? "turn" : "turns"} ${numbers.join(", ")} of the conversation`

const action = ({ from, path, to }: FileStep): string => {
  if (to.kind === "absent") return `delete   ${path}`
  return `${from.kind === "absent" ? "create " : "restore"}  ${path}`
}

const left = ({ path }: FileStep, { kind, reason }: NonNullable<FileStep["obstacle"]>): string =>
  `leave    ${path}: ${reason}${kind === "changed-since" ? "; --force goes over that" : ""}`
