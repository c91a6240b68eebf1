/**
 * The extension points of a tool call: policy before it, wrappers around its body, judgement after it, and observers of its result.
 */
import * as Hook from "@dsh/kernel/Hook"
import type { Json } from "@dsh/kernel/Json"
import type { ContentBlock } from "@dsh/protocol/Block"
import type { CallId } from "@dsh/protocol/Ids"
import type { ToolErrorInfo, UserMessage } from "@dsh/protocol/Message"
import type { Session } from "@dsh/session/Session"
import type * as Layer from "effect/Layer"
import type { ToolError } from "./ToolError.ts"

/** One call on its way through the pipeline. Arguments are fixed: they were logged and shown before any policy saw them. */
export interface ToolExecution {
  readonly callId: CallId
  /** The outermost call, for calls made by other calls. */
  readonly rootCallId: CallId
  readonly name: string
  readonly arguments: Json
  readonly session: Session | undefined
  /** Tells two executions of one call id apart; never logged. */
  readonly token: symbol
  /** The token of the enclosing execution. */
  readonly parent: symbol | undefined
}

interface Outcome {
  readonly content: ReadonlyArray<ContentBlock>
  readonly meta?: Json
  /** Messages for the model, delivered after the whole batch. */
  readonly additionalContexts: ReadonlyArray<UserMessage>
}

export interface ToolSuccess extends Outcome {
  readonly isError: false
  readonly value: Json
  readonly concludesTurn: boolean
}

export interface ToolFailure extends Outcome {
  readonly isError: true
  readonly error: { readonly message: string; readonly info?: ToolErrorInfo }
}

export type ToolOutcome = ToolSuccess | ToolFailure

export type PolicyDecision =
  | { readonly kind: "allow" }
  | { readonly kind: "deny"; readonly reason: string }
  | { readonly kind: "ask"; readonly reason?: string }

/** Policy: may this call run? The base decision is `allow`. A failure fails the call without a judgement. */
export class PreExecute extends Hook.Waterfall<PreExecute, ToolExecution, PolicyDecision, ToolError>()(
  "tools/pre-execute"
) {}

export type Approval = "allowed-once" | "rejected" | "cancelled" | "unavailable"

/** Somebody to ask. Without an answer the call is denied. */
export class AskApproval extends Hook.Bail<
  AskApproval,
  { readonly execution: ToolExecution; readonly reason: string | undefined },
  Approval,
  ToolError
>()("tools/ask") {}

/** Around the body: deadlines, checkpoints, metrics. */
export class Execute extends Hook.Waterfall<Execute, ToolExecution, ToolOutcome, ToolError>()("tools/execute") {}

export type Judgement =
  | {
      readonly kind: "accept"
      /** Replaces what the model reads. Not together with `value`. */
      readonly content?: ReadonlyArray<ContentBlock>
      /** Replaces the value and renders it again. Not for failures. */
      readonly value?: Json
      readonly additionalContexts?: ReadonlyArray<UserMessage>
    }
  | {
      readonly kind: "block"
      readonly feedback: string
      readonly additionalContexts?: ReadonlyArray<UserMessage>
    }

/** After the body, denied calls included: accept, amend or block the outcome. The base judgement is `accept`. */
export class PostExecute extends Hook.Waterfall<
  PostExecute,
  { readonly execution: ToolExecution; readonly outcome: ToolOutcome },
  Judgement,
  ToolError
>()("tools/post-execute") {}

/** The final outcome of a call. */
export class ToolResult extends Hook.Emit<
  ToolResult,
  { readonly execution: ToolExecution; readonly outcome: ToolOutcome }
>()("tools/result") {}

export type ToolHooks = PreExecute | AskApproval | Execute | PostExecute | ToolResult

/** All of them, for manifests. */
export const points = [PreExecute, AskApproval, Execute, PostExecute, ToolResult] as const

/** The extension points without handlers. */
export const layer: Layer.Layer<ToolHooks> = Hook.layer(...points)
