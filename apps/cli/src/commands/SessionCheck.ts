/**
 * `dsh session check ID`: every defect of a stored log, where it is, and what a repair would make of it.
 */
import type { Defect } from "@dsh/persistence/Diagnosis"
import { SessionId } from "@dsh/protocol/Ids"
import * as Effect from "effect/Effect"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import { Output } from "../Output.ts"
import * as Sessions from "../Sessions.ts"

/**
 * @param id As typed; it may name nothing.
 * @param json One JSON object per defect, for programs.
 */
export const run = (id: string, json: boolean): Command =>
  Sessions.withPersistence((persistence) =>
    Effect.gen(function* () {
      const output = yield* Output
      const defects = yield* persistence.check(SessionId(id))
      if (defects.length > 0) yield* output.print(defects.map(json ? toJson : toText).join("\n"))
      else if (!json) yield* output.print("the log is sound")
      return defects.length === 0 ? ExitCode.completed : ExitCode.failed
    })
  )

export const toText = ({ code, message, place, repair }: Defect): string =>
  `${place}  ${code}  ${message} (${repair === undefined ? "a repair leaves it as it is" : `a repair ${repair}`})`

const toJson = ({ code, message, place, repair }: Defect): string => JSON.stringify({ code, place, message, repair })
