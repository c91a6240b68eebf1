/**
 * `dsh settings get [PATH]`: what the user has set, or the value that holds at a path.
 */
import type { Path } from "@dsh/settings/Settings"
import * as SettingsText from "@dsh/settings/SettingsText"
import * as Effect from "effect/Effect"
import { stringify } from "yaml"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Failure from "../Failure.ts"
import * as KnownSettings from "../KnownSettings.ts"
import { Output } from "../Output.ts"
import * as SettingsPath from "../SettingsPath.ts"

export const run = ({ json, path }: { readonly path: string | undefined; readonly json: boolean }): Command =>
  Effect.gen(function* () {
    const output = yield* Output
    const asked = path === undefined ? [] : yield* SettingsPath.parse(path)
    const { file, value } = yield* KnownSettings.using((settings, folder) =>
      Effect.gen(function* () {
        const file = yield* SettingsText.place(folder)
        const values = yield* SettingsText.values(file)
        const [head] = asked
        // What nobody here knows is shown as it is written.
        const wanted = KnownSettings.sections.filter(({ name }) =>
          head === undefined ? name in values : name === head
        )
        const shown: Record<string, unknown> = { ...values }
        for (const section of wanted) {
          yield* settings.register(section)
          const view = yield* settings.view(section.name)
          shown[section.name] = head === undefined ? view.user : view.value
        }
        return { file, value: at(shown, asked) }
      })
    )
    if (value === undefined) return yield* Effect.flatMap(notSet(path ?? "", asked), Effect.fail)
    if (asked.length === 0 && Object.keys(value as object).length === 0) {
      output.notice(`nothing is set; it would be in ${file}`)
      if (!json) return ExitCode.completed
    }
    yield* output.print(json ? JSON.stringify(value) : text(value))
    return ExitCode.completed
  })

const text = (value: unknown): string =>
  typeof value === "object" ? stringify(value, { lineWidth: 0 }).trimEnd() : String(value)

const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null && Object.hasOwn(inner, key)
        ? inner[key as keyof typeof inner]
        : undefined,
    value
  )

const notSet = (typed: string, [head, ...rest]: Path): Effect.Effect<Failure.Failure, Failure.Failure> =>
  Effect.map(KnownSettings.find(head ?? ""), (section) => {
    const unknown = rest.length === 0 ? undefined : KnownSettings.unknownKey(section, rest)
    return unknown === undefined
      ? Failure.fromError({ code: "SETTING_NOT_SET", message: `${typed} is not set` })
      : Failure.usage(unknown)
  })
