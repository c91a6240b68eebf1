/**
 * `dsh session list`: the sessions under the home folder, last used first, one line each.
 */
import type { SessionSummary } from "@dsh/persistence/SessionPersistence"
import * as Effect from "effect/Effect"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import { Output } from "../Output.ts"
import * as Sessions from "../Sessions.ts"

/** @param json One JSON object per line, for programs. */
export const run = (json: boolean): Command =>
  Sessions.withPersistence((persistence) =>
    Effect.gen(function* () {
      const output = yield* Output
      const sessions = yield* Sessions.list(persistence)
      if (sessions.length > 0) yield* output.print(sessions.map(json ? toJson : toText).join("\n"))
      return ExitCode.completed
    })
  )

const toText = ({ header, length, updatedAt }: SessionSummary): string =>
  [header.id, new Date(updatedAt).toISOString(), `${length ?? "?"} events`, header.cwd ?? "-"].join("  ")

// JSON.stringify leaves out what is not known.
const toJson = ({ bytes, header, length, path, updatedAt }: SessionSummary): string => {
  const { createdAt, cwd, id, origin, parentSession } = header
  return JSON.stringify({ id, cwd, createdAt, updatedAt, events: length, bytes, path, parentSession, origin })
}
