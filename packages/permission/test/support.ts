/**
 * Rules as they are in force.
 */
import { Either } from "effect"
import * as Rules from "../src/Rules.ts"
import type { Given } from "../src/Verdict.ts"

export const rule = (text: string): Rules.Rule => Either.getOrThrow(Rules.parse(text))

export const given = (
  rules: Partial<Record<Rules.Effects, ReadonlyArray<string>>>,
  origin = "the settings"
): ReadonlyArray<Given> =>
  (["allow", "ask", "deny"] as const).flatMap((effect) =>
    (rules[effect] ?? []).map((text) => ({ effect, origin, rule: rule(text) }))
  )
