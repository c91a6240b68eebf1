/**
 * What rules come to for one thing that is about to be done.
 */
import type { Effects, Rule } from "./Rules.ts"
import type { Fit } from "./Rules/CommandPattern.ts"

/** A rule in force. */
export interface Given {
  readonly rule: Rule
  readonly effect: Effects
  /** Who gave it, for people: a file, or the session. */
  readonly origin: string
  /** Somebody answered a question with it. It outlasts the rule that asked, and no rule that denies. */
  readonly granted?: true
}

export type Verdict =
  | { readonly kind: "allow" }
  | { readonly kind: "ask"; readonly reason: string; readonly by?: Given }
  | { readonly kind: "deny"; readonly reason: string; readonly by?: Given }

export const allowed: Verdict = { kind: "allow" }

const severity = { allow: 0, ask: 1, deny: 2 } as const

/** The first of the strictest; what nothing is said about is allowed. */
export const strictest = (verdicts: Iterable<Verdict>): Verdict => {
  let worst: Verdict = allowed
  for (const verdict of verdicts) if (severity[verdict.kind] > severity[worst.kind]) worst = verdict
  return worst
}

/** Whether only what a rule allows may be done. */
export const isClosed = (rules: ReadonlyArray<Given>): boolean =>
  rules.some(({ effect, granted }) => effect === "allow" && granted !== true)

export const denied = (what: string, by: Given): Verdict => ({
  kind: "deny",
  reason: `${what} is denied by the rule ${by.rule.text} (${by.origin})`,
  by
})

export const asked = (what: string, by: Given): Verdict => ({
  kind: "ask",
  reason:
    by.effect === "deny"
      ? `${what} may be what the rule ${by.rule.text} denies (${by.origin})`
      : `the rule ${by.rule.text} wants ${what} to be asked for (${by.origin})`,
  by
})

/** Deny before ask before allow, whichever rule is written first or says more; a grant stands between the first two. */
export const judge = (
  what: string,
  rules: ReadonlyArray<Given>,
  fit: (rule: Given) => Fit,
  closed: boolean = isClosed(rules)
): Verdict => {
  const fits = rules.map((given) => ({ given, fit: fit(given) }))
  const first = (effect: Effects, ...wanted: ReadonlyArray<Fit>) =>
    fits.find((one) => one.given.effect === effect && wanted.includes(one.fit))?.given
  const denying = first("deny", "yes")
  if (denying !== undefined) return denied(what, denying)
  if (fits.some((one) => one.given.granted === true && one.fit === "yes")) return allowed
  const asking = first("deny", "maybe") ?? first("ask", "yes", "maybe")
  if (asking !== undefined) return asked(what, asking)
  if (!closed || first("allow", "yes") !== undefined) return allowed
  return { kind: "ask", reason: `no rule allows ${what}` }
}
