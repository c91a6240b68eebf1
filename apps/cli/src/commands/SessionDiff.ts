/**
 * `dsh session diff ID[@TURN]`: what a session, or one of its turns, changed in the workspace.
 */
import { SessionId } from "@dsh/protocol/Ids"
import * as Effect from "effect/Effect"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import { Output } from "../Output.ts"
import * as Rewinding from "../Rewinding.ts"

interface Asked {
  /** As typed; it may name nothing. */
  readonly id: string
  /** The turn; undefined: all of them. */
  readonly at: number | undefined
  /** One JSON object per file, for programs. */
  readonly json: boolean
}

export const run = ({ at, id, json }: Asked): Command =>
  Rewinding.withRewind((rewind) =>
    Effect.gen(function* () {
      const output = yield* Output
      const files = yield* rewind.diff(SessionId(id), at)
      if (files.length > 0) {
        const text = json
          ? files.map((file) => JSON.stringify(file)).join("\n")
          : files.map(({ patch }) => patch).join("")
        yield* output.print(text.trimEnd())
      } else if (!json) {
        output.notice(at === undefined ? "this session has changed nothing" : `turn ${at} has changed nothing`)
      }
      return ExitCode.completed
    })
  )
