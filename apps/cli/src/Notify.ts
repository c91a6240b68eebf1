/**
 * Tells the user that a run is over, in the ways that their settings name. Loaded when it is over, and only where there are settings.
 */
import * as Text from "@dsh/kernel/Text"
import * as NotificationSettings from "@dsh/notifications/NotificationSettings"
import * as NotificationsLocal from "@dsh/notifications/NotificationsLocal"
import type { News } from "@dsh/notifications/Notifications"
import * as SettingsFile from "@dsh/settings/SettingsFile"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { writeSync } from "node:fs"
import { isatty } from "node:tty"
import type { Failure } from "./Failure.ts"
import { Output } from "./Output.ts"
import type { Worked } from "./Work.ts"

type About = Pick<News, "event" | "message" | "sessionId">

const ofWorked = ({ agent, answer, problem }: Worked): About => ({
  event: problem === undefined ? "completed" : "failed",
  message: oneLine(problem === undefined ? answer : `${problem.code}: ${problem.message}`),
  sessionId: agent.session.id
})

const ofFailure = ({ code, message }: Failure): About => ({
  event: "failed",
  message: oneLine(`${code}: ${message}`),
  sessionId: undefined
})

const oneLine = (text: string): string => Text.ellipsis(text.replaceAll(/\s+/g, " ").trim(), 200)

/** What does not work is noted, and nothing fails for it. */
const tell = (folder: string, about: About): Effect.Effect<void, never, Output> =>
  Effect.gen(function* () {
    const output = yield* Output
    const settings = yield* SettingsFile.make({ folder })
    const wanted = yield* settings.get(NotificationSettings.section)
    if (Option.isNone(wanted)) return
    // To stderr: stdout is for what the run was about.
    const ring = isatty(2) ? () => void writeSync(2, "\u0007") : undefined
    const durationMs = Math.round(process.uptime() * 1000)
    const problem = yield* NotificationsLocal.make({ ...wanted.value, ring }).tell({
      ...about,
      cwd: process.cwd(),
      durationMs
    })
    if (problem !== undefined) output.notice(problem)
  }).pipe(
    Effect.provide(NodeFileSystem.layer),
    Effect.catchAll((error) => Effect.map(Output, (output) => output.notice(error.message)))
  )

export const worked = (folder: string, run: Worked) => tell(folder, ofWorked(run))
export const failed = (folder: string, failure: Failure) => tell(folder, ofFailure(failure))
