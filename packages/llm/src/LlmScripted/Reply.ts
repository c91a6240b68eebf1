/**
 * What a scripted model says: constructors for whole replies.
 */
import { CallId } from "@dsh/protocol/Ids"
import type { FinishReason, StreamChunk, TokenUsage } from "@dsh/protocol/StreamChunk"
import type { LlmRequest } from "../LlmAdapter.ts"
import type { LlmError } from "../LlmError.ts"

export type Reply =
  | { readonly kind: "chunks"; readonly chunks: ReadonlyArray<StreamChunk> }
  /** The chunks, then the failure. */
  | { readonly kind: "fail"; readonly chunks: ReadonlyArray<StreamChunk>; readonly error: LlmError }
  /** The chunks, then nothing until the request is cancelled. */
  | { readonly kind: "hang"; readonly chunks: ReadonlyArray<StreamChunk> }
  /** Looks at the request first. */
  | { readonly kind: "from"; readonly reply: (request: LlmRequest) => Reply }

export interface ScriptedCall {
  readonly name: string
  readonly arguments: unknown
  readonly id?: string
}

const finished = (reason: FinishReason, usage?: TokenUsage): ReadonlyArray<StreamChunk> => [
  ...(usage === undefined ? [] : [{ type: "usage" as const, usage }]),
  { type: "finish", reason }
]

export const chunks = (list: ReadonlyArray<StreamChunk>): Reply => ({ kind: "chunks", chunks: list })

/** An answer, after some reasoning if given. */
export const text = (answer: string, more: { readonly reasoning?: string; readonly usage?: TokenUsage } = {}): Reply =>
  chunks([
    ...(more.reasoning === undefined ? [] : [{ type: "reasoning-delta" as const, index: 0, text: more.reasoning }]),
    { type: "text-delta", index: more.reasoning === undefined ? 0 : 1, text: answer },
    ...finished({ kind: "stop" }, more.usage)
  ])

/** Tool calls, after some text if given. Arguments that are a string are sent as they are. */
export const calls = (list: ReadonlyArray<ScriptedCall>, before = ""): Reply => {
  const offset = before === "" ? 0 : 1
  return chunks([
    ...(before === "" ? [] : [{ type: "text-delta" as const, index: 0, text: before }]),
    ...list.map((call, i): StreamChunk => ({
      type: "tool-call-delta",
      index: i + offset,
      id: CallId(call.id ?? `call_${i}`),
      name: call.name,
      argumentsDelta: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments)
    })),
    ...finished({ kind: "tool-calls" })
  ])
}

/** An answer that hit the output ceiling. */
export const cut = (answer: string): Reply =>
  chunks([{ type: "text-delta", index: 0, text: answer }, ...finished({ kind: "max-tokens" })])

export const fail = (error: LlmError, before: ReadonlyArray<StreamChunk> = []): Reply => ({
  kind: "fail",
  chunks: before,
  error
})

export const hang = (before: ReadonlyArray<StreamChunk> = []): Reply => ({ kind: "hang", chunks: before })

export const from = (reply: (request: LlmRequest) => Reply): Reply => ({ kind: "from", reply })
