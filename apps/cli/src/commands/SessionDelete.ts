/**
 * `dsh session delete ID`: takes a session away for good. Asks first, unless told not to.
 */
import { SessionId } from "@dsh/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Confirm from "../Confirm.ts"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Failure from "../Failure.ts"
import { Output } from "../Output.ts"
import * as Sessions from "../Sessions.ts"

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
      output.notice(`session ${id} is deleted`)
      return ExitCode.completed
    })
  )
