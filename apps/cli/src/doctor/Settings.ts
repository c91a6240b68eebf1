/**
 * Whether the settings can be read, and whether what they say fits.
 */
import * as Nearest from "@dsh/kernel/Nearest"
import * as SettingsText from "@dsh/settings/SettingsText"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { existsSync } from "node:fs"
import type { Failure } from "../Failure.ts"
import * as KnownSettings from "../KnownSettings.ts"
import * as Permissions from "../Permissions.ts"
import * as RunSettings from "../RunSettings.ts"
import type { Check } from "./Finding.ts"
import * as Finding from "./Finding.ts"

const names = KnownSettings.sections.map(({ name }) => name)

interface Read {
  readonly file: string
  /** Of all sections. */
  readonly written: ReadonlyArray<string>
  readonly misfits: ReadonlyArray<Finding.Finding>
}

/** Every section is looked at, and not only the first that does not fit. */
const read: Effect.Effect<Read, Failure> = KnownSettings.using((settings, folder) =>
  Effect.gen(function* () {
    const file = yield* SettingsText.place(folder)
    const written = Object.keys(yield* SettingsText.values(file))
    const sections = yield* Effect.forEach(KnownSettings.sections, (section) => Effect.either(settings.get(section)))
    const misfits = sections.filter(Either.isLeft).map(({ left }) => Finding.because("fail", left))
    return { file, written, misfits }
  })
)

/** What nobody here knows is left alone, but a name that is nearly one of ours was meant to be it. */
const mistyped = ({ file, written }: Read): ReadonlyArray<Finding.Finding> =>
  written
    .filter((name) => !names.includes(name) && Nearest.find(name, names) !== undefined)
    .map((name) => Finding.because("warn", { message: `${file}: ${KnownSettings.unknownSection(name)}` }))

const rules = Effect.map(
  Permissions.withRules((rules) => rules.of(process.cwd())),
  ({ notices }) => notices.map((message) => Finding.because("warn", { message }))
)

export const check: Check = () =>
  Effect.gen(function* () {
    const settings = yield* read
    const [misfit, ...misfits] = settings.misfits
    if (misfit !== undefined) return Finding.all([misfit, ...misfits, ...mistyped(settings)])
    yield* RunSettings.load
    const [first, ...others] = [...mistyped(settings), ...(yield* rules)]
    if (first !== undefined) return Finding.all([first, ...others])
    return Finding.ok(
      existsSync(settings.file)
        ? `${settings.file}: ${settings.written.join(", ") || "nothing is set"}`
        : `there are none; they would be in ${settings.file}`
    )
  }).pipe(Effect.catchAll((error) => Effect.succeed(Finding.because("fail", error))))
