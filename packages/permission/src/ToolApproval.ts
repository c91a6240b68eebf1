/**
 * Asks before each call of one tool that no rule speaks of, as `write` is asked about outside of the workspace: for tools that change what
 * no sandbox guards. An answer that lasts is a rule like any other, so it is listed and taken back like them.
 *
 * A session that may change nothing is refused. One with full access that asks nobody is not asked.
 */
import * as SandboxMode from "@dsh/sandbox/SandboxMode"
import { SandboxPolicy } from "@dsh/sandbox/SandboxPolicy"
import { ToolError } from "@dsh/tools/ToolError"
import { PreExecute } from "@dsh/tools/ToolHooks"
import type { PolicyDecision, ToolExecution } from "@dsh/tools/ToolHooks"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { Approval } from "./Approval.ts"
import { PermissionRules } from "./PermissionRules.ts"

export interface Options {
  /** The name of the tool. */
  readonly tool: string
  /** What it does: the object of "no rule allows …". */
  readonly what: string
}

const failed = (error: { readonly code: string; readonly message: string }) =>
  new ToolError({ code: error.code, message: error.message, cause: error })

// Loaded with the first call.
const judging = Effect.promise(() => Promise.all([import("./CallVerdict.ts"), import("./Grants.ts")]))

const make = ({ tool, what }: Options) =>
  Effect.gen(function* () {
    const rules = yield* PermissionRules
    const approval = yield* Approval
    const sandbox = Option.getOrUndefined(yield* Effect.serviceOption(SandboxPolicy))

    const judge = Effect.fnUntraced(function* ({ arguments: args, session }: ToolExecution) {
      const mode = session === undefined ? "read-only" : (sandbox?.mode(session) ?? SandboxMode.of(session))
      if (session === undefined || mode === "read-only") {
        return {
          kind: "deny",
          reason: `${what} is a change, and this session may change nothing (its permission preset is read-only)`
        } as const
      }
      if (mode === "danger-full-access" && approval.policy(session) === "never") return undefined
      const call = { tool, arguments: args, cwd: session.header.cwd ?? "." }
      const [CallVerdict, Grants] = yield* judging
      const book = yield* Effect.mapError(rules.of(call.cwd), failed)
      if (!CallVerdict.isUnmentioned(call, { ...book, rules: [...book.rules, ...Grants.of(session)] })) return undefined
      const reason = `no rule allows ${what}; the user can allow it: dsh permission allow '${tool}'`
      return { kind: "ask", reason } as const
    })

    return PreExecute.hook(`approval of ${tool}`, (execution, next) =>
      Effect.gen(function* () {
        const decision = yield* next(execution)
        if (execution.name !== tool || decision.kind !== "allow") return decision
        const judged: PolicyDecision | undefined = yield* judge(execution)
        if (judged === undefined) return decision
        const { callId, name, session } = execution
        if (session !== undefined) {
          const logged = { callId, toolName: name, decision: judged.kind, reason: judged.reason ?? "" }
          yield* Effect.mapError(session.append("permission/decision", logged), failed)
        }
        return judged
      })
    )
  })

/** For compositions with `PermissionPolicy`. */
export const layer = (options: Options): Layer.Layer<never, never, PreExecute | PermissionRules | Approval> =>
  Layer.unwrapEffect(make(options))
