/**
 * Goes on with another model when one fails for good: its quota is used up, it is down, or it failed as often as it was worth trying.
 *
 * A feature on the loop's recovery hook, behind `LlmRetry` if that is there. A switch is in the log as `llm/fallback` before anything is
 * sent. It holds until the turn ends; the next turn begins with the model that was chosen, unless somebody chose another one meanwhile.
 */
import type { Agent } from "@dsh/agent/Agent"
import { AgentError } from "@dsh/agent/AgentError"
import { AgentRequest, RequestError } from "@dsh/agent/AgentHooks"
import type { LlmCallConfig } from "@dsh/protocol/Request"
import type { EventOf } from "@dsh/protocol/SessionEvent"
import type { LlmFailure } from "@dsh/protocol/StreamChunk"
import * as EventTypes from "@dsh/session/EventTypes"
import type { Session } from "@dsh/session/Session"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as RetryPolicy from "./RetryPolicy.ts"

export interface Route {
  readonly provider: string
  readonly model: string
  readonly reasoningEffort?: string
}

declare module "@dsh/protocol/SessionEvent" {
  interface SessionEvents {
    /** From here on another model answers, until the turn ends. */
    readonly "llm/fallback": {
      readonly turn: number
      readonly step: number
      readonly from: Route
      readonly to: Route
      /** What was chosen before anything failed. */
      readonly chosen: Route
      readonly failure: LlmFailure
    }
  }
}

export interface Options {
  /** Tried in this order, each once per turn. The model in use may be among them. */
  readonly chain: ReadonlyArray<Route>
  /** Failures to fall back on. Default: what may pass with time, and a used-up quota. */
  readonly codes?: ReadonlyArray<string>
}

const route = Schema.Struct({
  provider: Schema.String,
  model: Schema.String,
  reasoningEffort: Schema.optional(Schema.String)
})

const schema = () =>
  Schema.Struct({
    turn: Schema.Number,
    step: Schema.Number,
    from: route,
    to: route,
    chosen: route,
    failure: Schema.Struct({ message: Schema.String, code: Schema.String })
  })

type Fallback = EventOf<"llm/fallback">["data"]

/** The switches of each session, last first; read from the log once, then kept. */
class Switches {
  private readonly known = new WeakMap<Session, Array<Fallback>>()

  of(session: Session): Array<Fallback> {
    let switches = this.known.get(session)
    if (switches === undefined) {
      switches = []
      for (const event of session.range(0, session.firstLiveSeq)) {
        if (event.type === "llm/fallback") switches.unshift(event.data)
      }
      this.known.set(session, switches)
    }
    return switches
  }
}

const same = (a: Route, b: Route): boolean => a.provider === b.provider && a.model === b.model

const routeOf = ({ model, provider, reasoningEffort }: LlmCallConfig): Route => ({
  provider,
  model,
  ...(reasoningEffort !== undefined && { reasoningEffort })
})

/** Whatever else was configured stays; an effort is one of a model. */
const onto = ({ reasoningEffort: _, ...config }: LlmCallConfig, to: Route): LlmCallConfig => ({ ...config, ...to })

export const layer = ({ chain, codes = [...RetryPolicy.normal.retryableCodes, "QUOTA"] }: Options) => {
  const switches = new Switches()

  const config = AgentRequest.hook("llm-fallback", (input, next) =>
    Effect.suspend(() => {
      const [last] = switches.of(input.agent.session)
      if (last === undefined) return next(input)
      if (last.turn === input.turn) return next({ ...input, config: onto(input.config, last.to) })
      // A model that was switched to is that of the last request; another one is somebody's choice.
      return next(same(last.to, input.config) ? { ...input, config: onto(input.config, last.chosen) } : input)
    })
  )

  const nextOf = (agent: Agent, turn: number, from: Route): Route | undefined => {
    const tried = switches.of(agent.session).filter((each) => each.turn === turn)
    return chain.find((each) => !same(each, from) && !tried.some((used) => same(used.from, each)))
  }

  const recovery = RequestError.hook(
    "llm-fallback",
    (failed, next) =>
      Effect.gen(function* () {
        const { agent, failure, step, turn } = failed
        const { session } = agent
        const logged = session.conversation.header?.config
        if (logged === undefined || !codes.includes(failure.code)) return yield* next(failed)
        const from = routeOf(logged)
        const to = nextOf(agent, turn, from)
        if (to === undefined) return yield* next(failed)
        const [last] = switches.of(session)
        const chosen = last?.turn === turn ? last.chosen : from
        const data = { turn, step, from, to, chosen, failure }
        yield* Effect.mapError(
          session.append("llm/fallback", data),
          (cause) =>
            new AgentError({
              code: "HOOK_FAILED",
              message: `the fallback could not be logged: ${cause.message}`,
              cause
            })
        )
        switches.of(session).unshift(data)
        return { kind: "retry" } as const
      }),
    { order: 100 }
  )

  return Layer.mergeAll(EventTypes.layerType("llm/fallback", { schema, ignorable: true }), config, recovery)
}
