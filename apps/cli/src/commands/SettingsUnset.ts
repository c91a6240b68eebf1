/**
 * `dsh settings unset PATH`: takes back what the user has set there.
 */
import * as Effect from "effect/Effect"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Failure from "../Failure.ts"
import * as KnownSettings from "../KnownSettings.ts"
import { Output } from "../Output.ts"
import * as SettingsPath from "../SettingsPath.ts"

export const run = (path: string): Command =>
  Effect.gen(function* () {
    const [head = "", ...rest] = yield* SettingsPath.parse(path)
    const section = yield* KnownSettings.find(head)
    const output = yield* Output
    yield* KnownSettings.using((settings) =>
      Effect.gen(function* () {
        yield* settings.register(section)
        const { revision } = yield* settings.view(section.name)
        const after = yield* settings.mutate(section.name, [{ op: "unset", path: rest }])
        if (after.revision !== revision) return
        const unknown = rest.length === 0 ? undefined : KnownSettings.unknownKey(section, rest)
        return yield* unknown === undefined
          ? Failure.fromError({
              code: "SETTING_NOT_SET",
              message: `${path} is not set, so there is nothing to take back`
            })
          : Failure.usage(unknown)
      })
    )
    output.notice(`${path} is taken back`)
    return ExitCode.completed
  })
