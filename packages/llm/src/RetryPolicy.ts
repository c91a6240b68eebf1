/**
 * When a failed model request is tried again, and after how long. Pure: an executor does the waiting.
 */
import type { LlmFailure } from "@dsh/protocol/StreamChunk"

export interface RetryPolicy {
  /** `normal`: a few times, and only what may pass. `always`: whatever it is, for as long as it takes. */
  readonly mode: "normal" | "always"
  /** After the first attempt. Only in mode `normal`. */
  readonly maxRetries: number
  /** Only in mode `normal`. */
  readonly retryableCodes: ReadonlyArray<string>
  /** In milliseconds; doubles with each retry. */
  readonly initialDelayMs: number
  /** In milliseconds. */
  readonly maxDelayMs: number
  /** How far a delay may be off, so that those who failed together do not come back together. From 0 to 1. */
  readonly jitterRatio: number
}

export const normal: RetryPolicy = {
  mode: "normal",
  maxRetries: 5,
  retryableCodes: ["EMPTY_RESPONSE", "RATE_LIMIT", "SERVER", "STREAM_CLOSED", "TIMEOUT", "TRANSPORT"],
  initialDelayMs: 500,
  maxDelayMs: 10_000,
  jitterRatio: 0.1
}

/** Equal for policies that decide equally. */
export const keyOf = (policy: RetryPolicy): string => {
  const { initialDelayMs, jitterRatio, maxDelayMs, maxRetries, mode, retryableCodes } = policy
  const backoff = [initialDelayMs, maxDelayMs, jitterRatio]
  return JSON.stringify(
    mode === "always" ? [mode, ...backoff] : [mode, maxRetries, retryableCodes.toSorted(), ...backoff]
  )
}

/** The longest wait a provider may ask for, in milliseconds. */
export const longestAsked = 120_000

export type Decision =
  | { readonly kind: "wait"; readonly delayMs: number }
  | { readonly kind: "give-up"; readonly failure: LlmFailure }

/**
 * @param retry Which retry it would be, from 1.
 * @param random From 0 to 1.
 */
export const decide = (policy: RetryPolicy, retry: number, failure: LlmFailure, random: number): Decision => {
  const isNormal = policy.mode === "normal"
  if (isNormal && (retry > policy.maxRetries || !policy.retryableCodes.includes(failure.code))) {
    return { kind: "give-up", failure }
  }
  const local = localDelay(policy, retry, random)
  const asked = failure.providerRetryAfterMs
  if (asked === undefined) return { kind: "wait", delayMs: local }
  if (asked <= longestAsked) return { kind: "wait", delayMs: Math.max(asked, local) }
  if (!isNormal) return { kind: "wait", delayMs: local }
  const message = `${failure.message}; the provider asks to wait ${inWords(asked)}: try again then, or use another model`
  return { kind: "give-up", failure: { ...failure, message } }
}

const localDelay = (
  { initialDelayMs, jitterRatio, maxDelayMs }: RetryPolicy,
  retry: number,
  random: number
): number => {
  const base = Math.min(initialDelayMs * 2 ** (retry - 1), maxDelayMs)
  return Math.min(Math.round(base * (1 + jitterRatio * (2 * random - 1))), maxDelayMs)
}

/** "90 s", "5 min", "2 h". */
const inWords = (millis: number): string => {
  const seconds = Math.ceil(millis / 1000)
  if (seconds < 120) return `${seconds} s`
  return seconds < 7200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`
}
