/**
 * The rules in force, wherever they are kept. Session grants are not among them: those are in the log.
 */
import type { SettingsError } from "@dsh/settings/Settings"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Effects, Rule } from "./Rules.ts"
import type { Given } from "./Verdict.ts"

export interface RuleBook {
  readonly rules: ReadonlyArray<Given>
  /** The user's home folder, for `~` in rules. */
  readonly home: string
  /** What was left out, and why. */
  readonly notices: ReadonlyArray<string>
}

export class PermissionRules extends Context.Tag("@dsh/permission/PermissionRules")<
  PermissionRules,
  {
    /** The rules for a workspace folder as they are now. */
    readonly of: (cwd: string) => Effect.Effect<RuleBook, SettingsError>
    /** Adds a rule of the user's own, unless it is there. */
    readonly add: (effect: Exclude<Effects, "ask">, rule: Rule) => Effect.Effect<void, SettingsError>
    /** Takes away a rule of the user's own, whatever its effect; false when there was none. */
    readonly remove: (rule: Rule) => Effect.Effect<boolean, SettingsError>
  }
>() {}

/** Rules that are given and can be changed, for tests and for programs that keep their own. */
export const layerMemory = (rules: ReadonlyArray<Given>, home = "/home/user"): Layer.Layer<PermissionRules> =>
  Layer.sync(PermissionRules, () => {
    let current = rules
    return {
      of: () => Effect.sync(() => ({ rules: current, home, notices: [] })),
      add: (effect, rule) =>
        Effect.sync(() => {
          current = [...current, { effect, rule, origin: "the given rules" }]
        }),
      remove: (rule) =>
        Effect.sync(() => {
          const before = current
          current = current.filter((given) => given.rule.text !== rule.text)
          return current.length < before.length
        })
    }
  })
