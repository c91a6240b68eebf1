/**
 * Tries failed model requests again, by the policy of their route. A feature on the loop's recovery hook: without it nothing retries.
 *
 * What it does is in the log: `llm/retry` before it waits, `llm/retry-started` after. It counts by that log and keeps nothing itself.
 */
import type { Agent } from "@dsh/agent/Agent"
import { AgentError } from "@dsh/agent/AgentError"
import { RequestError } from "@dsh/agent/AgentHooks"
import * as Ids from "@dsh/kernel/Ids"
import type { EventOf } from "@dsh/protocol/SessionEvent"
import type { LlmFailure } from "@dsh/protocol/StreamChunk"
import * as EventTypes from "@dsh/session/EventTypes"
import type { Session } from "@dsh/session/Session"
import type { SessionError } from "@dsh/session/SessionError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import { Llm } from "./Llm.ts"
import * as RetryPolicy from "./RetryPolicy.ts"

declare module "@dsh/protocol/SessionEvent" {
  interface SessionEvents {
    /** A request failed and is tried again after a wait. */
    readonly "llm/retry": {
      /** One for all retries of a step under one policy. */
      readonly retryId: string
      readonly turn: number
      readonly step: number
      readonly provider: string
      readonly mode: RetryPolicy.RetryPolicy["mode"]
      readonly policyKey: string
      /** From 1. */
      readonly retry: number
      /** Only in mode `normal`. */
      readonly maxRetries?: number
      readonly delayMs: number
      readonly failure: LlmFailure
    }
    /** The wait is over, the request is about to be sent. */
    readonly "llm/retry-started": {
      readonly retryId: string
      readonly turn: number
      readonly step: number
      readonly retry: number
    }
  }
}

const place = { retryId: Schema.String, turn: Schema.Number, step: Schema.Number, retry: Schema.Number }

const retrySchema = () =>
  Schema.Struct({
    ...place,
    provider: Schema.String,
    mode: Schema.Literal("normal", "always"),
    policyKey: Schema.String,
    maxRetries: Schema.optional(Schema.Number),
    delayMs: Schema.Number,
    failure: Schema.Struct({ message: Schema.String, code: Schema.String })
  })

const eventTypes = Layer.merge(
  EventTypes.layerType("llm/retry", { schema: retrySchema, ignorable: true }),
  EventTypes.layerType("llm/retry-started", { schema: () => Schema.Struct(place), ignorable: true })
)

interface Failed {
  readonly agent: Agent
  readonly turn: number
  readonly step: number
  readonly provider: string
  readonly failure: LlmFailure
}

type Retry = EventOf<"llm/retry">["data"]

/** The last retry of this step on this route under this policy. */
const lastOf = (session: Session, { provider, step, turn }: Failed, policyKey: string): Retry | undefined => {
  for (let seq = session.length - 1; seq >= 0; seq--) {
    const event = session.at(seq)
    if (event === undefined || event.type === "step/start") return undefined
    if (event.type !== "llm/retry") continue
    const { data } = event
    if (data.turn === turn && data.step === step && data.provider === provider && data.policyKey === policyKey)
      return data
  }
  return undefined
}

/** What to do about a failure; logged, and waited for. Without an answer it is not for this policy to try again. */
const attempt = (failed: Failed, policy: RetryPolicy.RetryPolicy) =>
  Effect.gen(function* () {
    const { agent, failure, provider, step, turn } = failed
    const { session } = agent
    const policyKey = RetryPolicy.keyOf(policy)
    const last = lastOf(session, failed, policyKey)
    const retry = (last?.retry ?? 0) + 1
    const decision = RetryPolicy.decide(policy, retry, failure, yield* Random.next)
    if (decision.kind === "give-up") return decision
    const retryId = last?.retryId ?? (yield* Ids.fresh)
    const { delayMs } = decision
    const { maxRetries, mode } = policy
    yield* session.append("llm/retry", {
      retryId,
      turn,
      step,
      provider,
      mode,
      policyKey,
      retry,
      ...(mode === "normal" && { maxRetries }),
      delayMs,
      failure
    })
    yield* Effect.sleep(delayMs)
    yield* session.append("llm/retry-started", { retryId, turn, step, retry })
    return { kind: "retry" } as const
  }).pipe(Effect.mapError(notLogged))

const notLogged = (cause: SessionError) =>
  new AgentError({ code: "HOOK_FAILED", message: `the retry could not be logged: ${cause.message}`, cause })

type PolicyOf = (provider: string) => RetryPolicy.RetryPolicy

const hook = (policyOf: PolicyOf) =>
  RequestError.hook("llm-retry", (failed, next) =>
    Effect.gen(function* () {
      const policy = policyOf(failed.provider)
      // Whoever knows what to do about a failure comes first where nothing is ever given up.
      if (policy.mode === "always") {
        const decided = yield* Effect.option(next(failed))
        if (decided._tag === "Some" && decided.value.kind === "retry") return decided.value
      }
      const decision = yield* attempt(failed, policy)
      return decision.kind === "retry" ? decision : yield* next({ ...failed, failure: decision.failure })
    })
  )

/** Retries by the policy of the adapter that serves the route. */
export const layer = Layer.merge(eventTypes, Layer.unwrapEffect(Effect.map(Llm, (llm) => hook(llm.retryPolicy))))

/** Retries by one policy, whatever the route. */
export const layerPolicy = (policy: RetryPolicy.RetryPolicy) =>
  Layer.merge(
    eventTypes,
    hook(() => policy)
  )
