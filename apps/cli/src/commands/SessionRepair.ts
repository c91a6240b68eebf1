/**
 * `dsh session repair ID`: makes a sound log of a damaged one, and says what it did.
 */
import { SessionId } from "@dsh/protocol/Ids"
import * as Effect from "effect/Effect"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import { Output } from "../Output.ts"
import * as Sessions from "../Sessions.ts"
import { toText } from "./SessionCheck.ts"

/** @param id As typed; it may name nothing. */
export const run = (id: string): Command =>
  Sessions.withPersistence((persistence) =>
    Effect.gen(function* () {
      const output = yield* Output
      const { backup, defects } = yield* persistence.repair(SessionId(id))
      const summary =
        backup !== undefined
          ? `repaired; the log as it was is kept in ${backup}`
          : defects.length === 0
            ? "the log is sound; there is nothing to repair"
            : "there is nothing that a repair could do"
      yield* output.print([...defects.map(toText), summary].join("\n"))
      return ExitCode.completed
    })
  )
