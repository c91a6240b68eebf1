/**
 * Settings that are given, for tests and for programs that keep their own.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Pulse from "./Pulse.ts"
import { SettingsError, decode, show } from "./Settings.ts"
import { Settings } from "./Settings.ts"
import * as Merge from "./Settings/Merge.ts"
import * as Sections from "./Settings/Sections.ts"

const file = "the given settings"

/** @param sections As they would be written. */
export const make = (sections: Readonly<Record<string, unknown>> = {}): Effect.Effect<Settings["Type"]> =>
  Effect.suspend(() => {
    let values = sections
    return Sections.make({
      get: ({ name, schema }) =>
        Effect.suspend(() =>
          Object.hasOwn(values, name)
            ? Either.mapBoth(decode({ path: [name], schema }, values[name]), {
                onLeft: ({ path, reason }) =>
                  new SettingsError({ code: "SETTINGS_INVALID", file, path: show(path), reason }),
                onRight: Option.some
              })
            : Effect.succeedNone
        ),
      read: Effect.sync(() => ({ file, values, placeOf: () => ({}), stamp: JSON.stringify(values) })),
      write: (change) =>
        Effect.suspend(() =>
          Either.map(change({ file, values }), (ops) => {
            values = Merge.applied(values, ops) as typeof values
          })
        ),
      touched: Pulse.never
    })
  })

export const layer = (sections?: Readonly<Record<string, unknown>>): Layer.Layer<Settings> =>
  Layer.effect(Settings, make(sections))
