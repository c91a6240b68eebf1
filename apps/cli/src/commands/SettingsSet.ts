/**
 * `dsh settings set PATH VALUE`: what was typed, as what the section wants there.
 */
import type { Op } from "@dsh/settings/Settings"
import { SettingsError } from "@dsh/settings/Settings"
import * as Effect from "effect/Effect"
import { parse } from "yaml"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Failure from "../Failure.ts"
import * as KnownSettings from "../KnownSettings.ts"
import { Output } from "../Output.ts"
import * as SettingsPath from "../SettingsPath.ts"

export const run = (path: string, value: string): Command =>
  Effect.gen(function* () {
    const [head = "", ...rest] = yield* SettingsPath.parse(path)
    const section = yield* KnownSettings.find(head)
    const output = yield* Output
    yield* KnownSettings.using((settings) =>
      Effect.gen(function* () {
        // What is wrong already is not this value's fault.
        yield* settings.register(section)
        const attempt = (value: unknown) =>
          rest.length === 0
            ? settings.replace(section.name, value)
            : settings.mutate(section.name, [{ op: "set", path: rest, value } satisfies Op])
        const meant = yaml(value)
        yield* attempt(meant).pipe(
          // A name that looks like a number is one where a text belongs.
          Effect.catchIf(
            ({ code }) => code === "SETTINGS_INVALID" && typeof meant !== "string",
            (first) => Effect.mapError(attempt(value), () => first)
          ),
          Effect.mapError((error) => (error.code === "SETTINGS_INVALID" ? Failure.usage(unplaced(error)) : error))
        )
      })
    )
    output.notice(`${path} is set`)
    return ExitCode.completed
  })

/** Where it stands in the file is of no use: it was never written there. */
const unplaced = ({ file, path, reason }: SettingsError): string =>
  path === undefined ? new SettingsError({ code: "SETTINGS_INVALID", file, reason }).message : `${path} ${reason}`

const yaml = (text: string): unknown => {
  try {
    return parse(text)
  } catch {
    return text
  }
}
