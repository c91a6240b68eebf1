/**
 * How far tools may go: what the command line says, else the environment, else the settings.
 */
import * as PermissionPresets from "@dsh/permission/PermissionPresets"
import type { StandardName } from "@dsh/permission/PermissionPresets"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Environment from "../Environment.ts"
import * as Failure from "../Failure.ts"
import * as HomeFolder from "../HomeFolder.ts"
import { suggest } from "@dsh/kernel/Nearest"

export interface Preset {
  /** Of new sessions. */
  readonly standing: StandardName
  /** `flag`: of whatever session the run works in. The others are for new ones only. */
  readonly by: "flag" | "environment" | "default"
}

const names = Object.keys(PermissionPresets.standard)

/** Whether nothing is allowed by `preset` that `current` forbids. A session may be as no preset is: then it is not known. */
export const isNarrower = (preset: StandardName, current: string): boolean =>
  isName(current) ? names.indexOf(preset) < names.indexOf(current) : preset === "read-only"

const isName = (name: string): name is StandardName => names.includes(name)

/** Fails with exit code 2 for a flag, 3 for anything else, that names no preset. */
export const resolve = (flag: string | undefined): Effect.Effect<Preset, Failure.Failure> =>
  Effect.gen(function* () {
    if (flag !== undefined) {
      if (isName(flag)) return { standing: flag, by: "flag" }
      return yield* Failure.usage(`"${flag}" is no permission preset; ${suggest(flag, names)}`)
    }
    const mode = yield* Environment.sandboxMode
    if (mode !== undefined) return { standing: mode, by: "environment" }
    return { standing: (yield* fromSettings) ?? "workspace-write", by: "default" }
  })

const fromSettings = Effect.gen(function* () {
  const folder = yield* HomeFolder.withSettings
  if (folder === undefined) return undefined
  const { read } = yield* Effect.promise(() => import("./FromSettings.ts"))
  const preset = yield* Effect.mapError(read(folder), ({ code, message }) => Failure.configuration(code, message))
  if (Option.isNone(preset)) return undefined
  if (isName(preset.value)) return preset.value
  return yield* Failure.configuration(
    "INVALID_CONFIG",
    `permission.preset in the settings under ${folder} is "${preset.value}"; ${suggest(preset.value, names)}`
  )
})
