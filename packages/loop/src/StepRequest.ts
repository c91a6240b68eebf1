/**
 * From the log to a request that can be sent: the call configuration, the header that is logged when it changed, the rendered body,
 * and the digest that is logged before anything goes out.
 */
import { AgentRequest } from "@dsh/agent/AgentHooks"
import { AgentError } from "@dsh/agent/AgentError"
import type { Selection } from "@dsh/agent/ModelSelection"
import * as JsonValue from "@dsh/kernel/Json"
import { Llm } from "@dsh/llm/Llm"
import type { AdapterCall, LlmRequest } from "@dsh/llm/LlmAdapter"
import { LlmError } from "@dsh/llm/LlmError"
import { neutral } from "@dsh/protocol/NeutralRequest"
import { canonical, sameHeader } from "@dsh/protocol/Request"
import type { EpochHeader, LlmCallConfig, RequestContext } from "@dsh/protocol/Request"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { AgentState } from "./AgentState.ts"
import { LoopConfig } from "./LoopConfig.ts"
import * as StepPrompt from "./StepPrompt.ts"

export interface StepRequest {
  readonly call: AdapterCall
  readonly request: LlmRequest
}

export interface AttemptAt {
  readonly turn: number
  readonly step: number
  readonly attempt: number
}

/** Resolves, logs and renders the next request. */
export const make = Effect.fnUntraced(function* (state: AgentState, at: AttemptAt, begun: StepPrompt.StepPrompt) {
  const { agent, session } = state
  const { attempt, step, turn } = at
  const seed = yield* seedConfig(state)
  const point = yield* AgentRequest
  const config = yield* point.run({ agent, turn, step, config: seed }, (input) => Effect.succeed(input.config))
  state.provider = config.provider
  const prompt = yield* StepPrompt.fitting(state, begun, config)
  const call = yield* prepare(config)
  const header = yield* logHeader(state, {
    config: call.config,
    ...(call.adapterDefaults !== undefined && { adapterDefaults: call.adapterDefaults }),
    wire: call.wire,
    system: prompt.system,
    tools: prompt.tools
  })
  markApplied(state, header)
  yield* logContext(state, call)
  const body = state.body.render(header, session.conversation)
  yield* session.append("request/sent", {
    turn,
    step,
    attempt,
    bytes: body.bytes.length,
    sha256: body.sha256,
    of: body.of
  })
  const request: LlmRequest = {
    header,
    messages: session.conversation.messages,
    body,
    sessionId: session.id,
    purpose: "agent",
    isCallIdTaken: (id) => state.callIds.has(id)
  }
  return { call, request } satisfies StepRequest
})

/** Called where the prompt of a step is assembled: a choice that is made later is one for the next step. */
export const takeSelection = (state: AgentState): void => {
  const selected = state.selected()
  state.selection = selected === state.applied ? undefined : selected
}

/** A hook may have sent the request elsewhere; then the choice still stands. */
const markApplied = (state: AgentState, { config }: EpochHeader): void => {
  const { selection } = state
  if (selection === undefined || selection.provider !== config.provider || selection.model !== config.model) return
  state.applied = selection
  state.selection = undefined
}

/**
 * The model that was chosen since the last request. Otherwise the agent's own choice for the first request of this loop, or that of a
 * session that is resumed; what was logged last for every other.
 */
export const seedConfig = Effect.fnUntraced(function* (state: AgentState) {
  const { agent, selection, session } = state
  const logged = session.conversation.header
  if (logged !== undefined && logged !== state.inheritedHeader) return selecting(selection, withoutDefaults(logged))
  const { defaultModel } = yield* LoopConfig
  const provider = selection?.provider ?? agent.options.provider ?? logged?.config.provider ?? defaultModel?.provider
  const model = selection?.model ?? agent.options.model ?? logged?.config.model ?? defaultModel?.model
  if (provider === undefined || model === undefined) {
    return yield* new AgentError({
      code: "NO_MODEL",
      message: "no model is chosen; create the agent with a provider and a model, or set a default model"
    })
  }
  const effort = agent.options.reasoningEffort ?? inheritedEffort(logged, provider, model)
  const config: LlmCallConfig = {
    provider,
    model,
    ...(effort !== undefined && { reasoningEffort: effort }),
    ...(agent.options.maxTokens !== undefined && { maxTokens: agent.options.maxTokens })
  }
  return selecting(selection, config)
})

/** Another model is asked with the same limits. An effort is one of a model, so it goes with it. */
const selecting = (selection: Selection | undefined, config: LlmCallConfig): LlmCallConfig => {
  if (selection === undefined) return config
  const { reasoningEffort: _, ...rest } = config
  return { ...rest, ...selection }
}

/** An effort that somebody chose survives a resume on the same route; one that the adapter filled in does not. */
const inheritedEffort = (logged: EpochHeader | undefined, provider: string, model: string): string | undefined =>
  logged !== undefined &&
  logged.config.provider === provider &&
  logged.config.model === model &&
  logged.adapterDefaults?.reasoningEffort !== true
    ? logged.config.reasoningEffort
    : undefined

const withoutDefaults = ({ adapterDefaults, config }: EpochHeader): LlmCallConfig => {
  const { maxTokens, reasoningEffort, ...rest } = config
  return {
    ...rest,
    ...(reasoningEffort !== undefined && adapterDefaults?.reasoningEffort !== true && { reasoningEffort }),
    ...(maxTokens !== undefined && adapterDefaults?.maxTokens !== true && { maxTokens })
  }
}

const prepare = Effect.fnUntraced(function* (config: LlmCallConfig) {
  const llm = yield* Llm
  const call = yield* Effect.catchIf(
    llm.prepare(config),
    (error) => error.code === "NO_ADAPTER",
    // Middleware may serve a route that no adapter does; if none does, the stream fails with what prepare said.
    (error) => Effect.succeed(unserved(config, error))
  )
  if (llm.format(call.wire.format) === undefined) {
    return yield* new LlmError({
      code: "INVALID_ADAPTER",
      message: `the adapter of "${config.provider}" writes "${call.wire.format}" and does not bring that format along`
    })
  }
  return call
})

const unserved = (config: LlmCallConfig, error: LlmError): AdapterCall => ({
  config,
  wire: { format: neutral.format },
  model: { provider: config.provider, id: config.model, name: config.model },
  stream: () => Stream.fail(error)
})

/** The header in force, logged first when the model would notice a difference. */
const logHeader = Effect.fnUntraced(function* (state: AgentState, fields: EpochHeader) {
  const { session } = state
  const next = canonical(fields)
  const logged = session.conversation.header
  if (logged === state.inheritedHeader) {
    yield* session.append("request/header", { header: next, reason: logged === undefined ? "initial" : "resume" })
  } else if (logged === undefined || !sameHeader(logged, next)) {
    yield* session.append("request/header", { header: next, reason: "change" })
  }
  // Not `next`: the body cache recognises the folded header by identity.
  return session.conversation.header ?? next
})

const logContext = Effect.fnUntraced(function* ({ session }: AgentState, { config, model }: AdapterCall) {
  const next: RequestContext = {
    provider: config.provider,
    model: config.model,
    ...(model.contextWindow !== undefined && { contextWindow: model.contextWindow })
  }
  const logged = session.conversation.context
  if (logged === undefined || !JsonValue.equals({ ...logged }, { ...next })) {
    yield* session.append("request/context", next)
  }
})
