/**
 * Holds the rules against every tool call: what they deny is refused, what they ask about goes to whoever answers approvals, and the
 * reason names the rule, for the model and in the log.
 *
 * Merge it in and rules count; leave it out and nothing is asked. While there are no rules it costs a look at two files per call.
 */
import { Approval } from "./Approval.ts"
import type { Outcome } from "./Approval.ts"
import { ToolError } from "@dsh/tools/ToolError"
import { AskApproval, PreExecute } from "@dsh/tools/ToolHooks"
import type { PolicyDecision, ToolExecution } from "@dsh/tools/ToolHooks"
import { WorkingFolder } from "@dsh/tools/WorkingFolder"
import { Fs } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Call } from "./CallVerdict.ts"
import * as PermissionEvents from "./PermissionEvents.ts"
import { PermissionRules } from "./PermissionRules.ts"
import type { RuleBook } from "./PermissionRules.ts"
import { ShellSyntax } from "./ShellSyntax.ts"
import type { Verdict } from "./Verdict.ts"

/** @param folder Where it begins, which counts as if the call had said so. */
const callOf = ({ arguments: args, name, session }: ToolExecution, folder?: string): Call => ({
  tool: name,
  arguments:
    folder === undefined || typeof args !== "object" || args === null || Array.isArray(args)
      ? args
      : { ...args, workdir: folder },
  cwd: session?.header.cwd ?? "."
})

const failed = (error: { readonly code: string; readonly message: string }) =>
  new ToolError({ code: error.code, message: error.message, cause: error })

// Loaded with the first rule: most runs have none.
const judging = Effect.promise(() =>
  Promise.all([import("./CallVerdict.ts"), import("./ExactRule.ts"), import("./Grants.ts")])
)

const make = Effect.gen(function* () {
  const rules = yield* PermissionRules
  const context = yield* Effect.context<ShellSyntax | Fs>()
  const told = new Set<string>()

  const announce = ({ notices }: RuleBook) =>
    Effect.forEach(
      notices.filter((notice) => !told.has(notice)),
      (notice) =>
        Effect.zipRight(
          Effect.sync(() => told.add(notice)),
          Effect.logWarning(notice)
        ),
      { discard: true }
    )

  const verdict = Effect.fnUntraced(function* (
    execution: ToolExecution
  ): Effect.fn.Return<Verdict | undefined, ToolError> {
    const { session } = execution
    const call = callOf(execution, yield* WorkingFolder)
    const book = yield* Effect.mapError(rules.of(call.cwd), failed)
    yield* announce(book)
    if (book.rules.length === 0) return undefined
    const [CallVerdict, ExactRule, Grants] = yield* judging
    const all = { ...book, rules: [...book.rules, ...(session === undefined ? [] : Grants.of(session))] }
    if (!CallVerdict.isConcerned(call, all)) return undefined
    const found = yield* CallVerdict.judge(call, all).pipe(Effect.provide(context), Effect.mapError(failed))
    if (found.kind !== "ask" || found.by !== undefined) return found
    const wanted = ExactRule.of(call)
    // A rule that nobody can type helps nobody.
    const hint = /^[^'\n]{1,200}$/.test(wanted) ? `; the user can allow it: dsh permission allow '${wanted}'` : ""
    return { ...found, reason: found.reason + hint }
  })

  const log = ({ callId, name, session }: ToolExecution, found: Exclude<Verdict, { readonly kind: "allow" }>) =>
    session === undefined
      ? Effect.void
      : Effect.mapError(
          session.append("permission/decision", {
            callId,
            toolName: name,
            decision: found.kind,
            reason: found.reason,
            ...(found.by !== undefined && { rule: found.by.rule.text, origin: found.by.origin })
          }),
          failed
        )

  const policy = PreExecute.hook(
    "permission rules",
    (execution, next) =>
      Effect.gen(function* () {
        const found = yield* verdict(execution)
        if (found === undefined || found.kind === "allow") return yield* next(execution)
        if (found.kind === "ask") {
          const decision = yield* next(execution)
          if (decision.kind === "deny") return decision
        }
        yield* log(execution, found)
        return { kind: found.kind, reason: found.reason } satisfies PolicyDecision
      }),
    // Outermost: what is denied here is nobody else's business.
    { order: -100 }
  )

  const approval = yield* Approval

  /** Keeps an answer that lasts. */
  const keep = Effect.fnUntraced(function* (execution: ToolExecution, outcome: Outcome) {
    const { callId, session } = execution
    if (session === undefined || (outcome !== "allowed-session" && outcome !== "allowed-always")) return
    const [, ExactRule, Grants] = yield* judging
    const wanted = ExactRule.of(callOf(execution))
    // Also when it is kept for good: a rule that asks is still there, and stands before one that allows.
    yield* Effect.mapError(Grants.grant(session, wanted, callId), failed)
    if (outcome === "allowed-session") return
    const { parse } = yield* Effect.promise(() => import("./Rules.ts"))
    yield* Effect.mapError(
      Effect.flatMap(parse(wanted), (rule) => rules.add("allow", rule)),
      (error) => (typeof error === "string" ? error : error.message)
    ).pipe(
      // The call is allowed, whether or not that could be written down.
      Effect.catchAll((message) => Effect.logWarning(`${wanted} is allowed for this session only: ${message}`))
    )
  })

  const asking = AskApproval.hook("approval", ({ execution, reason }) => {
    const { callId, name: toolName, session } = execution
    if (session === undefined) return Effect.succeedNone
    return Effect.gen(function* () {
      const outcome = yield* Effect.mapError(
        approval.request({ session, toolName, callId, ...(reason !== undefined && { reason }) }),
        failed
      )
      yield* keep(execution, outcome)
      // Who was not asked did not reject anything, and the model must not think so.
      if (approval.policy(session) === "never") return Option.some("unavailable")
      const isAllowed = outcome === "allowed-session" || outcome === "allowed-always"
      return Option.some(isAllowed ? "allowed-once" : outcome)
    })
  })

  return Layer.mergeAll(PermissionEvents.layer, policy, asking)
})

export const layer = Layer.unwrapEffect(make)
