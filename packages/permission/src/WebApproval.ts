/**
 * Asks before the first page of a host is fetched: what is in an address is told to whoever answers there.
 *
 * An answer that lasts is a rule like any other, `web_fetch(domain:example.com)`, so it is listed and taken back like them. What
 * the rules say something about is left to `PermissionPolicy`, which is also who puts the question. A session with full access that asks
 * nobody fetches from everywhere.
 */
import * as SandboxMode from "@dsh/sandbox/SandboxMode"
import { SandboxPolicy } from "@dsh/sandbox/SandboxPolicy"
import type { Session } from "@dsh/session/Session"
import { ToolError } from "@dsh/tools/ToolError"
import { PreExecute } from "@dsh/tools/ToolHooks"
import type { PolicyDecision } from "@dsh/tools/ToolHooks"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { Approval } from "./Approval.ts"
import type { Call } from "./CallVerdict.ts"
import { PermissionRules } from "./PermissionRules.ts"

const tool = "web_fetch"

const failed = (error: { readonly code: string; readonly message: string }) =>
  new ToolError({ code: error.code, message: error.message, cause: error })

// Loaded with the first page.
const judging = Effect.promise(() =>
  Promise.all([import("./CallVerdict.ts"), import("./ExactRule.ts"), import("./Grants.ts")])
)

const make = Effect.gen(function* () {
  const rules = yield* PermissionRules
  const approval = yield* Approval
  const sandbox = Option.getOrUndefined(yield* Effect.serviceOption(SandboxPolicy))

  const isUnbounded = (session: Session): boolean =>
    approval.policy(session) === "never" && (sandbox?.mode(session) ?? SandboxMode.of(session)) === "danger-full-access"

  /** Why somebody has to be asked, if so. */
  const question = Effect.fnUntraced(function* (call: Call, session: Session) {
    const [CallVerdict, ExactRule, Grants] = yield* judging
    const host = CallVerdict.hostOf(call)
    // The tool itself says what is wrong with such an address.
    if (host === undefined || host === "") return undefined
    const book = yield* Effect.mapError(rules.of(call.cwd), failed)
    const all = { ...book, rules: [...book.rules, ...Grants.of(session)] }
    if (!CallVerdict.isUnmentioned(call, all)) return undefined
    return `no rule allows fetching from ${host}; the user can allow it: dsh permission allow '${ExactRule.of(call)}'`
  })

  return PreExecute.hook("web hosts", (execution, next) =>
    Effect.gen(function* () {
      const decision = yield* next(execution)
      const { arguments: args, callId, name, session } = execution
      if (name !== tool || decision.kind !== "allow" || session === undefined || isUnbounded(session)) return decision
      const reason = yield* question({ tool, arguments: args, cwd: session.header.cwd ?? "." }, session)
      if (reason === undefined) return decision
      const logged = { callId, toolName: name, decision: "ask", reason } as const
      yield* Effect.mapError(session.append("permission/decision", logged), failed)
      return { kind: "ask", reason } satisfies PolicyDecision
    })
  )
})

/** For compositions with `PermissionPolicy`. */
export const layer: Layer.Layer<never, never, PreExecute | PermissionRules | Approval> = Layer.unwrapEffect(make)
