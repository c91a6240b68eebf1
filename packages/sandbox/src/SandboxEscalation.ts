/**
 * One call with more rights than its session has, after somebody allowed it: what comes of the arguments in `Escalation`.
 *
 * Asked for what is no widening, or without a reason, nobody is bothered. The standing mode stays as it is.
 */
import type { Json } from "@dsh/kernel/Json"
import { ToolError } from "@dsh/tools/ToolError"
import { Execute, PreExecute } from "@dsh/tools/ToolHooks"
import type { PolicyDecision, ToolExecution } from "@dsh/tools/ToolHooks"
import { CurrentConfinement, modes } from "@dsh/world/Confinement"
import type { SandboxMode } from "@dsh/world/Confinement"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SandboxPolicy } from "./SandboxPolicy.ts"

interface Asked {
  readonly mode: unknown
  readonly why: unknown
}

const askedOf = (tools: ReadonlySet<string>, { arguments: args, name }: ToolExecution): Asked | undefined => {
  if (!tools.has(name) || !isRecord(args)) return undefined
  const { justification, sandbox_permissions: mode } = args
  return mode === undefined && justification === undefined ? undefined : { mode, why: justification }
}

const isRecord = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The mode that is asked for, or why there is nothing to ask. */
const wider = ({ mode: asked, why }: Asked, standing: SandboxMode): SandboxMode | { readonly reason: string } => {
  const mode = modes.find((known) => known === asked)
  if (mode === undefined || typeof why !== "string" || why.trim() === "") {
    return { reason: "sandbox_permissions and justification belong together; give both or neither" }
  }
  return modes.indexOf(mode) > modes.indexOf(standing)
    ? mode
    : { reason: `sandbox_permissions is ${mode} and the mode is ${standing} already; leave it out` }
}

/** For the tools of these names. */
export const layer = (names: ReadonlyArray<string>) => {
  const tools = new Set(names)

  const asking = PreExecute.hook("sandbox-escalation", (execution, next) =>
    Effect.gen(function* () {
      const asked = askedOf(tools, execution)
      const decision = yield* next(execution)
      if (asked === undefined || decision.kind === "deny") return decision
      const { session } = execution
      const deny = (reason: string): PolicyDecision => ({ kind: "deny", reason })
      if (session === undefined) return deny("only an agent can ask for other sandbox permissions")
      const mode = wider(asked, (yield* SandboxPolicy).mode(session))
      if (typeof mode === "object") return deny(mode.reason)
      return { kind: "ask", reason: `with ${mode}: ${String(asked.why)}` } satisfies PolicyDecision
    })
  )

  const widening = Execute.hook("sandbox-escalation", (execution, next) =>
    Effect.gen(function* () {
      const asked = askedOf(tools, execution)
      const current = yield* CurrentConfinement
      if (asked === undefined || current === undefined) return yield* next(execution)
      const mode = wider(asked, current.mode)
      // The mode was another one when it was allowed.
      if (typeof mode === "object") {
        return yield* new ToolError({ code: "INVALID_ARGS", message: mode.reason })
      }
      return yield* Effect.provideService(next(execution), CurrentConfinement, { ...current, mode })
    })
  )

  return Layer.merge(asking, widening)
}
