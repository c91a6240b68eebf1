/**
 * The stages of a tool call. The scheduler runs them one by one, so that policy stays in model order while bodies overlap; `execute`
 * runs them all for everybody else.
 *
 *   prepare    look up → pre-execute → approval → guards
 *   dispatch   execute hooks around the body
 *   finalize   post-execute → result observers
 *
 * Whatever fails inside becomes a result that the model can read. Interrupting `dispatch` cancels the body.
 */
import * as Json from "@dsh/kernel/Json"
import * as Thrown from "@dsh/kernel/Thrown"
import { text } from "@dsh/protocol/Block"
import type { CallId } from "@dsh/protocol/Ids"
import type { UserMessage } from "@dsh/protocol/Message"
import type { Session } from "@dsh/session/Session"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { ToolValue } from "./Tool.ts"
import { ToolError } from "./ToolError.ts"
import { KnownSecrets, redact } from "./Redaction.ts"
import { AskApproval, Execute, PostExecute, PreExecute, ToolResult } from "./ToolHooks.ts"
import type { Judgement, ToolExecution, ToolFailure, ToolHooks, ToolOutcome, ToolSuccess } from "./ToolHooks.ts"
import { Tools } from "./Tools.ts"

export type PipelineServices = Tools | ToolHooks

export interface Call {
  readonly callId: CallId
  readonly name: string
  /** Anything; what is not lossless JSON is refused. */
  readonly arguments: unknown
  readonly session: Session | undefined
  readonly rootCallId?: CallId
  readonly parent?: symbol
}

/** A call that may run, or the reason it will not. */
export type Prepared =
  | { readonly kind: "ready"; readonly execution: ToolExecution }
  /** Refused by policy: `finalize` still judges it. */
  | { readonly kind: "denied"; readonly execution: ToolExecution; readonly outcome: ToolFailure }
  /** Failed before any policy could speak: final as it is. */
  | { readonly kind: "failed"; readonly execution: ToolExecution; readonly outcome: ToolFailure }

/** An outcome and whether it may still be judged. */
export interface Dispatched {
  readonly outcome: ToolOutcome
  readonly final: boolean
}

// -----------------------------------------------------------------------------
// stages
// -----------------------------------------------------------------------------

export const prepare = (call: Call): Effect.Effect<Prepared, never, PipelineServices> =>
  Effect.flatMap(Tools, (tools) => {
    const copy = Json.snapshot(call.arguments)
    const execution: ToolExecution = {
      callId: call.callId,
      rootCallId: call.rootCallId ?? call.callId,
      // Policies know a tool by one name, whichever it was called by.
      name: tools.get(call.name)?.name ?? call.name,
      arguments: Either.getOrElse(copy, () => null),
      session: call.session,
      token: Symbol(call.callId),
      parent: call.parent
    }
    if (Either.isLeft(copy)) {
      const outcome = failure(new ToolError({ code: "INVALID_ARGS", message: copy.left.message }))
      return Effect.succeed<Prepared>({ kind: "failed", execution, outcome })
    }
    return contained(decide(execution), (outcome): Prepared => ({ kind: "failed", execution, outcome }))
  })

const decide = Effect.fnUntraced(function* (execution: ToolExecution) {
  const policy = yield* PreExecute
  const deny = (reason: string): Prepared => ({ kind: "denied", execution, outcome: denial(reason) })
  const decision = yield* policy.run(execution, () => Effect.succeed({ kind: "allow" }))
  if (decision.kind === "deny") return deny(decision.reason)
  if (decision.kind === "ask") {
    const refusal = yield* ask(execution, decision.reason)
    if (refusal !== undefined) return deny(refusal)
  }
  for (const guard of (yield* Tools).guards()) {
    const reason = guard(execution)
    if (reason !== undefined) return deny(reason)
  }
  return { kind: "ready", execution } satisfies Prepared
})

const ask = Effect.fnUntraced(function* (execution: ToolExecution, reason: string | undefined) {
  const approval = yield* AskApproval
  const answer = Option.getOrElse(yield* approval.run({ execution, reason }), () => "unavailable" as const)
  const why = reason === undefined ? "" : ` (${reason})`
  switch (answer) {
    case "allowed-once":
      return undefined
    case "rejected":
      return `the user rejected this call${why}; do something else or ask what they want`
    case "cancelled":
      return `the approval of this call was cancelled${why}`
    case "unavailable":
      return `this call needs an approval and nobody is there to give it${why}`
  }
})

/** Runs the body inside the execute hooks. */
export const dispatch = (execution: ToolExecution): Effect.Effect<Dispatched, never, PipelineServices> =>
  contained(
    Effect.flatMap(Execute, (point) =>
      Effect.map(
        point.run(execution, () => body(execution)),
        (outcome): Dispatched => ({ outcome, final: false })
      )
    ),
    (outcome): Dispatched => ({ outcome, final: true })
  )

const body = (execution: ToolExecution): Effect.Effect<ToolOutcome, never, Tools> =>
  Effect.flatMap(Tools, (tools) => {
    const tool = tools.get(execution.name)
    if (tool === undefined) {
      const known = tools.list().map(({ name }) => name)
      const message = `there is no tool "${execution.name}"; available: ${known.length === 0 ? "none" : known.join(", ")}`
      return Effect.succeed(failure(new ToolError({ code: "UNKNOWN_TOOL", message })))
    }
    const contexts: Array<UserMessage> = []
    let concludesTurn = false
    const running = Effect.suspend(() =>
      tool.run(execution.arguments, {
        callId: execution.callId,
        rootCallId: execution.rootCallId,
        token: execution.token,
        session: execution.session,
        cwd: execution.session?.header.cwd ?? ".",
        deferContext: (message) => Effect.sync(() => void contexts.push(message)),
        concludeTurn: Effect.sync(() => {
          concludesTurn = true
        })
      })
    )
    return contained(
      Effect.map(running, (value): ToolOutcome => success(value, contexts, concludesTurn)),
      (outcome): ToolOutcome => ({ ...outcome, additionalContexts: contexts })
    )
  })

/** Judges an outcome, unless it is final, and tells the observers. Exactly once per call. */
export const finalize = Effect.fnUntraced(function* (
  execution: ToolExecution,
  { final, outcome }: Dispatched
): Effect.fn.Return<ToolOutcome, never, PipelineServices> {
  const judged = final ? outcome : yield* contained(judge(execution, outcome), (failed): ToolOutcome => failed)
  const result = loggable(execution, judged, (yield* KnownSecrets)())
  yield* (yield* ToolResult).emit({ execution, outcome: result })
  return result
})

/** A frozen copy of what is logged of an outcome, without secrets; a failure when a hook made it something that cannot be. */
const loggable = ({ name }: ToolExecution, outcome: ToolOutcome, secrets: ReadonlyArray<string>): ToolOutcome => {
  const { additionalContexts, content, meta } = outcome
  const logged = { content, additionalContexts, ...(meta !== undefined && { meta }) }
  return Either.match(
    Json.snapshot(logged, (text) => redact(text, secrets)),
    {
      onLeft: ({ message }) =>
        failure(
          new ToolError({ code: "INVALID_TOOL_OUTPUT", message: `the result of ${name} cannot be logged: ${message}` })
        ),
      // A lossless snapshot has the shape of what it was taken from.
      onRight: (copy: unknown) => Object.freeze({ ...outcome, ...(copy as typeof logged) })
    }
  )
}

const judge = Effect.fnUntraced(function* (execution: ToolExecution, outcome: ToolOutcome) {
  const point = yield* PostExecute
  const judgement = yield* point.run({ execution, outcome }, () => Effect.succeed<Judgement>({ kind: "accept" }))
  const contexts = judgement.additionalContexts ?? []
  if (judgement.kind === "block") {
    return { ...denial(judgement.feedback, ""), additionalContexts: contexts } satisfies ToolOutcome
  }
  const { content, value } = judgement
  if (content !== undefined && value !== undefined) {
    return yield* new ToolError({
      code: "INVALID_TOOL_OUTPUT",
      message: "a post-execute hook replaced both content and value; it may replace one of the two"
    })
  }
  const additionalContexts = [...outcome.additionalContexts, ...contexts]
  if (value === undefined) return { ...outcome, ...(content !== undefined && { content }), additionalContexts }
  if (outcome.isError) {
    return yield* new ToolError({
      code: "INVALID_TOOL_OUTPUT",
      message: "a post-execute hook gave a failed call a value; block or accept it instead"
    })
  }
  const tool = (yield* Tools).get(execution.name)
  if (tool === undefined) {
    return yield* new ToolError({
      code: "UNKNOWN_TOOL",
      message: `a post-execute hook replaced the value of ${execution.name}, which is gone and cannot render it`
    })
  }
  const rendered = yield* tool.render(execution.arguments, value)
  return { ...success(rendered, additionalContexts, outcome.concludesTurn) }
})

/** All stages at once. */
export const execute = Effect.fnUntraced(function* (
  call: Call
): Effect.fn.Return<ToolOutcome, never, PipelineServices> {
  const prepared = yield* prepare(call)
  if (prepared.kind !== "ready") {
    return yield* finalize(prepared.execution, { outcome: prepared.outcome, final: prepared.kind === "failed" })
  }
  return yield* finalize(prepared.execution, yield* dispatch(prepared.execution))
})

// -----------------------------------------------------------------------------
// outcomes
// -----------------------------------------------------------------------------

const success = (
  { content, meta, value }: ToolValue,
  additionalContexts: ReadonlyArray<UserMessage>,
  concludesTurn: boolean
): ToolSuccess => ({
  isError: false,
  value,
  content,
  ...(meta !== undefined && { meta }),
  additionalContexts,
  concludesTurn
})

/** The result of a call that failed with `error`. */
export const failure = (error: ToolError): ToolFailure => ({
  isError: true,
  error: { message: error.message, info: { name: error._tag, code: error.code } },
  content: [text(`Error: ${error.message}`)],
  additionalContexts: []
})

const denial = (reason: string, prefix = "Error: "): ToolFailure => ({
  isError: true,
  error: { message: reason },
  content: [text(`${prefix}${reason}`)],
  additionalContexts: []
})

/** The result of a call that was cancelled, before its body ran or while it did. */
export const aborted = (started: boolean): ToolFailure => {
  const message = started ? "tool call aborted" : "tool call aborted before it started"
  return {
    isError: true,
    error: { message, info: { name: "AbortError", code: started ? "ABORTED" : "ABORTED_BEFORE_DISPATCH" } },
    content: [text(`Error: ${message}`)],
    additionalContexts: []
  }
}

/** Failures and defects become a failed outcome; an interruption stays one. */
const contained = <A, B, R>(
  effect: Effect.Effect<A, ToolError, R>,
  onFailure: (outcome: ToolFailure) => B
): Effect.Effect<A | B, never, R> =>
  Effect.catchAllCause(effect, (cause) => {
    if (Cause.isInterruptedOnly(cause)) return Effect.interrupt
    return Either.match(Cause.failureOrCause(cause), {
      onLeft: (error) => Effect.succeed(onFailure(failure(error))),
      onRight: (defect) =>
        Effect.as(
          Effect.logWarning("a tool or one of its hooks died", Thrown.pretty(defect)),
          onFailure(unexpected(defect))
        )
    })
  })

const unexpected = (cause: Cause.Cause<never>): ToolFailure => {
  const message = Thrown.messageOf(Cause.squash(cause)) ?? "the tool failed in an unexpected way"
  return { isError: true, error: { message }, content: [text(`Error: ${message}`)], additionalContexts: [] }
}
