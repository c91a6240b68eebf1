/**
 * Keeps the answer's ceiling within what the context window has left: a provider refuses a request whose messages and ceiling together
 * are longer than the window, also when the answer would have been short.
 *
 * A feature on the loop's hooks. The ceiling is lowered before a request that could be refused, and after one that was, when the
 * messages alone would have fitted. What it does is in the log as `llm/output-limit`. Where there is room again, or another model, the
 * ceiling is what it was. A conversation that fills the window by itself is not its business.
 */
import { AgentError } from "@dsh/agent/AgentError"
import { AgentRequest, RequestError } from "@dsh/agent/AgentHooks"
import * as ContextSize from "@dsh/protocol/ContextSize"
import type { LlmCallConfig } from "@dsh/protocol/Request"
import type { EventOf } from "@dsh/protocol/SessionEvent"
import * as EventTypes from "@dsh/session/EventTypes"
import type { Session } from "@dsh/session/Session"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Llm } from "./Llm.ts"
import * as Room from "./LlmOutputLimit/Room.ts"

declare module "@dsh/protocol/SessionEvent" {
  interface SessionEvents {
    /** The answer may be this long and no longer, because of what the window has left. */
    readonly "llm/output-limit": {
      readonly turn: number
      readonly step: number
      readonly provider: string
      readonly model: string
      /** The new ceiling of the answer, in tokens. */
      readonly maxTokens: number
      /** The ceiling that was asked for. Absent: the model's own. */
      readonly wanted?: number
      /** What the messages take of the window, both in tokens. */
      readonly contextTokens: number
      readonly contextWindow: number
    }
  }
}

const schema = () =>
  Schema.Struct({
    turn: Schema.Number,
    step: Schema.Number,
    provider: Schema.String,
    model: Schema.String,
    maxTokens: Schema.Number,
    wanted: Schema.optional(Schema.Number),
    contextTokens: Schema.Number,
    contextWindow: Schema.Number
  })

type Limited = EventOf<"llm/output-limit">["data"]

/** The last limit of each session; read from its log once, then kept. */
class Limits {
  private readonly known = new WeakMap<Session, { last: Limited | undefined }>()

  of(session: Session): { last: Limited | undefined } {
    let limits = this.known.get(session)
    if (limits === undefined) {
      limits = { last: undefined }
      for (const event of session.range(0, session.firstLiveSeq)) {
        if (event.type === "llm/output-limit") limits.last = event.data
      }
      this.known.set(session, limits)
    }
    return limits
  }
}

interface At {
  readonly session: Session
  readonly turn: number
  readonly step: number
}

const isFor = (limited: Limited, { model, provider }: LlmCallConfig): boolean =>
  limited.provider === provider && limited.model === model

/** What is asked for, if `config` only repeats a limit. */
const unlimited = (config: LlmCallConfig, last: Limited | undefined): LlmCallConfig => {
  if (last === undefined || config.maxTokens !== last.maxTokens) return config
  const { maxTokens: _, ...rest } = config
  return last.wanted === undefined ? rest : { ...rest, maxTokens: last.wanted }
}

const make = Effect.map(Llm, (llm) => {
  const limits = new Limits()

  const limit = Effect.fnUntraced(function* ({ session, step, turn }: At, limited: Omit<Limited, "turn" | "step">) {
    const known = limits.of(session)
    const { last } = known
    // The same as before is no news.
    if (last !== undefined && last.maxTokens === limited.maxTokens && last.wanted === limited.wanted) return
    known.last = { turn, step, ...limited }
    yield* Effect.mapError(session.append("llm/output-limit", known.last), notLogged)
  })

  const within = Effect.fnUntraced(function* (at: At, asked: LlmCallConfig) {
    const { session, step, turn } = at
    const { last } = limits.of(session)
    const size = ContextSize.measure(session.conversation)
    if (last === undefined && isRoomy(session, size, asked)) return asked
    const config = unlimited(asked, last)
    // A route that nobody serves fails where it is prepared for good.
    const prepared = yield* Effect.option(llm.prepare(config))
    if (prepared._tag === "None") return config
    const { config: resolved, model } = prepared.value
    const ceiling = resolved.maxTokens
    if (ceiling === undefined || model.contextWindow === undefined) return config
    const isKnown = last !== undefined && isFor(last, config)
    const window = isKnown ? Math.min(last.contextWindow, model.contextWindow) : model.contextWindow
    // A refusal of this very request knows better than an estimate.
    const refused = isKnown && last.turn === turn && last.step === step ? last.maxTokens : ceiling
    const maxTokens = Math.min(refused, Room.ceiling(size, window))
    if (maxTokens >= ceiling) return config
    yield* limit(at, {
      provider: config.provider,
      model: config.model,
      maxTokens,
      ...(config.maxTokens !== undefined && { wanted: config.maxTokens }),
      contextTokens: size.total,
      contextWindow: window
    })
    return { ...config, maxTokens }
  })

  const request = AgentRequest.hook(
    "llm-output-limit",
    (input, next) =>
      Effect.flatMap(next(input), (config) =>
        within({ session: input.agent.session, turn: input.turn, step: input.step }, config)
      ),
    // Around all others: the model has to be settled first.
    { order: -500 }
  )

  const recovery = RequestError.hook("llm-output-limit", (failed, next) =>
    Effect.gen(function* () {
      const { agent, failure, step, turn } = failed
      const { session } = agent
      const { context, header } = session.conversation
      const sent = header?.config
      if (failure.code !== "CONTEXT_WINDOW_EXCEEDED" || sent?.maxTokens === undefined) return yield* next(failed)
      const size = ContextSize.measure(session.conversation)
      const told = Room.told(failure.message)
      const window = told?.window ?? context?.contextWindow
      if (window === undefined) return yield* next(failed)
      const maxTokens = told === undefined ? Room.ceiling(size, window) : Room.rounded(told.window - told.messages)
      if (maxTokens >= sent.maxTokens || maxTokens <= Room.least) return yield* next(failed)
      const wanted = unlimited(sent, limits.of(session).last)
      const isDefault = header?.adapterDefaults?.maxTokens === true
      yield* limit(
        { session, step, turn },
        {
          provider: sent.provider,
          model: sent.model,
          maxTokens,
          ...(!isDefault && wanted.maxTokens !== undefined && { wanted: wanted.maxTokens }),
          contextTokens: told?.messages ?? size.total,
          contextWindow: window
        }
      )
      return { kind: "retry" } as const
    })
  )

  return Layer.mergeAll(EventTypes.layerType("llm/output-limit", { schema, ignorable: true }), request, recovery)
})

/** As the last request was: nothing has to be looked up to see that there is room. */
const isRoomy = ({ conversation }: Session, size: ContextSize.ContextSize, asked: LlmCallConfig): boolean => {
  const { context, header } = conversation
  if (context?.contextWindow === undefined || header?.config.maxTokens === undefined) return false
  if (context.provider !== asked.provider || context.model !== asked.model) return false
  const ceiling = Math.max(header.config.maxTokens, asked.maxTokens ?? 0)
  return Room.ceiling(size, context.contextWindow) >= ceiling
}

const notLogged = (cause: { readonly message: string }) =>
  new AgentError({
    code: "HOOK_FAILED",
    message: `the limit of the answer could not be logged: ${cause.message}`,
    cause
  })

export const layer = Layer.unwrapEffect(make)
