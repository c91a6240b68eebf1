/**
 * `dsh session delete ID`: takes a session away for good. Asks first, unless told not to.
 */
import type { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import { SessionId } from "@dsh/protocol/Ids"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import * as Confirm from "../Confirm.ts"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Failure from "../Failure.ts"
import * as HomeFolder from "../HomeFolder.ts"
import { Output } from "../Output.ts"
import * as Sessions from "../Sessions.ts"

/** What was kept of the files that it changed goes, too, unless a session that began as a copy of it needs that. */
const withoutSnapshots = (persistence: SessionPersistence["Type"], id: SessionId) =>
  Effect.gen(function* () {
    const root = yield* HomeFolder.snapshots
    if (!existsSync(root)) return
    const { sessions } = yield* persistence.list
    if (sessions.some(({ header }) => header.parentSession === id)) return
    const Snapshots = yield* Effect.promise(() => import("@dsh/rewind/Snapshots"))
    yield* Effect.tryPromise({
      try: () => Snapshots.make(root).sweep((session) => session !== id),
      catch: (cause) =>
        new Failure.Failure({
          code: "SNAPSHOTS_NOT_REMOVED",
          message: `the session is deleted, but not what was kept of its files in ${root}: ${String(cause)}`,
          exitCode: ExitCode.failed
        })
    })
  })

/** @param id As typed; it may name nothing. */
export const run = (id: string, yes: boolean): Command =>
  Sessions.withPersistence((persistence) =>
    Effect.gen(function* () {
      const output = yield* Output
      const session = SessionId(id)
      // Whether it is there is found out before anybody is asked.
      const { path } = yield* persistence.raw(session)
      if (!yes) {
        const answer = yield* Confirm.ask(`delete session ${id}${path === undefined ? "" : ` (${path})`}?`)
        if (answer === undefined) {
          return yield* Failure.usage(`nobody can be asked here; "dsh session delete ${id} --yes" does not ask`)
        }
        if (!answer) {
          output.notice("nothing was deleted")
          return ExitCode.failed
        }
      }
      yield* persistence.delete(session)
      yield* withoutSnapshots(persistence, session)
      output.notice(`session ${id} is deleted`)
      return ExitCode.completed
    })
  )
