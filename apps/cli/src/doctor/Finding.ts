/**
 * What one check of `dsh doctor` has found.
 */
import type * as Effect from "effect/Effect"
import type { Failure } from "../Failure.ts"
import type { Prepared } from "../Headless.ts"

export interface Finding {
  /** `fail`: a run cannot do its work. `warn`: it can, and something should be looked at. */
  readonly status: "ok" | "warn" | "fail"
  /** Several lines when there are several things to tell. */
  readonly message: string
  /** What to do next: a part of a sentence. */
  readonly remedy?: string
}

/** What is looked at. */
export interface Subject {
  readonly profile: string
  /** See `Blocking.find`. */
  readonly blocking: ReadonlyArray<string>
  /** What a run with it would be made of; it is made once for all checks. */
  readonly prepared: Effect.Effect<Prepared, Failure>
}

/** Whatever is wrong is a finding. */
export type Check = (subject: Subject) => Effect.Effect<Finding>

export const ok = (message: string): Finding => ({ status: "ok", message })

export const warn = (message: string, remedy?: string): Finding => ({
  status: "warn",
  message,
  ...(remedy !== undefined && { remedy })
})

export const fail = (message: string, remedy?: string): Finding => ({ ...warn(message, remedy), status: "fail" })

/** Errors of ours say what is the case and, behind a semicolon, what to do. Those of several lines are left as they are. */
export const because = (status: "warn" | "fail", { message }: { readonly message: string }): Finding => {
  const at = message.includes("\n") ? -1 : message.indexOf("; ")
  return at === -1 ? { status, message } : { status, message: message.slice(0, at), remedy: message.slice(at + 2) }
}

/** All of them in one, as bad as the worst. */
export const all = (findings: readonly [Finding, ...ReadonlyArray<Finding>]): Finding => {
  const [only, ...others] = findings
  if (others.length === 0) return only
  const worst = (["fail", "warn"] as const).find((status) => findings.some((one) => one.status === status)) ?? "ok"
  const message = findings.map(({ message, remedy }) => (remedy === undefined ? message : `${message}; ${remedy}`))
  return { status: worst, message: message.join("\n") }
}
