/**
 * The concrete agent loop: provides `Agents`. Bundles and apps choose it; extensions never need to know it.
 */
import type { Agent, AgentOptions, Input, SendError } from "@dsh/agent/Agent"
import { CurrentAgent } from "@dsh/agent/Agent"
import { AgentError } from "@dsh/agent/AgentError"
import { AgentCreated, AgentDisposed, SessionStart } from "@dsh/agent/AgentHooks"
import * as Presets from "@dsh/agent/AgentPresets"
import { Agents } from "@dsh/agent/Agents"
import type { CreateOptions, ForkOptions, ResumeOptions } from "@dsh/agent/Agents"
import { ModelSelection } from "@dsh/agent/ModelSelection"
import { fresh } from "@dsh/kernel/Ids"
import * as Realm from "@dsh/kernel/Realm"
import { Llm } from "@dsh/llm/Llm"
import { newHash } from "@dsh/llm/RequestDigest"
import { MessageId, SessionId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { UserMessage } from "@dsh/protocol/Message"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import { neutral } from "@dsh/protocol/NeutralRequest"
import * as RequestBody from "@dsh/protocol/RequestBody"
import { Lives } from "@dsh/session/Lives"
import type { Life } from "@dsh/session/Lives"
import type { Session } from "@dsh/session/Session"
import type { SessionError } from "@dsh/session/SessionError"
import { Sessions } from "@dsh/session/Sessions"
import type { InRealm, SessionHooks } from "@dsh/session/Sessions"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as AgentInbox from "./AgentInbox.ts"
import type { AgentState } from "./AgentState.ts"
import * as Driver from "./Driver.ts"
import * as TurnHistory from "./TurnHistory.ts"

/** What the loop is made of. Leaving one out is a compile error. */
export type LoopServices = Sessions | SessionHooks | ModelSelection | Driver.DriverServices

interface Setup<E, R> {
  readonly setup?: Layer.Layer<never, E, R>
}

/** What opens the session of an agent, in the realm of the agent. */
type Open = <E, R>(realm: InRealm<E, R>) => Effect.Effect<Session, SessionError | E, R | Scope.Scope>

export const make: Effect.Effect<Agents["Type"], never, LoopServices | Scope.Scope> = Effect.gen(function* () {
  const context = yield* Effect.context<LoopServices>()
  const sessions = yield* Sessions
  const presets = Option.getOrUndefined(yield* Effect.serviceOption(Presets.AgentPresets))
  const lives = new Lives<Agent>()
  // An agent may be asked for by a Scope that outlives the loop. It does not.
  yield* Effect.addFinalizer(() => lives.endAll)

  const create = Effect.fn("Agents.create")(function* <E, R>(options: CreateOptions<E, R>) {
    const { cwd, id = yield* freshId, parent, preset = presets?.standing, seed } = options
    const more = {
      id,
      ...(cwd !== undefined && { cwd }),
      ...(seed !== undefined && { seed }),
      ...(preset !== undefined && { agentPreset: preset }),
      ...(parent !== undefined && workingFor(parent))
    }
    return yield* begin(id, options, (realm) => sessions.create({ ...more, ...realm }), "startup")
  })

  const resume = Effect.fn("Agents.resume")(function* <E, R>(options: ResumeOptions<E, R>) {
    const { id } = options
    yield* lives.settled(id)
    return yield* begin(id, options, (realm) => sessions.resume(id, realm), "resume")
  })

  const fork = Effect.fn("Agents.fork")(function* <E, R>(options: ForkOptions<E, R>) {
    const { at, id = yield* freshId, source } = options
    const more = { id, ...(at !== undefined && { at }) }
    return yield* begin(id, options, (realm) => sessions.fork(source, { ...more, ...realm }), "startup")
  })

  const begin = Effect.fnUntraced(function* <E, R>(
    id: SessionId,
    options: AgentOptions & Setup<E, R>,
    open: Open,
    source: "startup" | "resume"
  ) {
    const { maxTokens } = options
    if (maxTokens !== undefined && !(Number.isSafeInteger(maxTokens) && maxTokens > 0)) {
      return yield* new AgentError({
        code: "INVALID_OPTIONS",
        message: `maxTokens is ${maxTokens}; use a whole number above 0`
      })
    }
    return yield* lives.begin(id, (life) => build(life, options, open, source))
  })

  /** The realm of a preset, for the agent's own to be a fork of; nothing where there are no presets. */
  const presetOf = (header: SessionHeader): Effect.Effect<Context.Context<never> | undefined, AgentError> => {
    if (presets !== undefined) return presets.realm(Presets.of(header, presets))
    if (header.agentPreset === undefined) return Effect.succeed(undefined)
    return new AgentError({
      code: "PRESET_UNAVAILABLE",
      message: `session ${header.id} is of the preset "${header.agentPreset}", and this composition has no presets`
    })
  }

  const build = Effect.fnUntraced(function* <E, R>(
    life: Life<Agent>,
    options: AgentOptions & Setup<E, R>,
    open: Open,
    source: "startup" | "resume"
  ) {
    const { maxTokens, model, provider, reasoningEffort, setup } = options
    let realm = Realm.fork(context)
    const inRealm = <A, E2, R2>(effect: Effect.Effect<A, E2, R2>) =>
      Effect.mapInputContext(
        effect,
        (caller: Context.Context<Exclude<R2, LoopServices>>) =>
          // The realm has what the caller lacks.
          Context.merge(caller, realm) as Context.Context<R2>
      )
    // Before anybody is told of the session, so that the realm's own hooks hear all of its life.
    const setUp = setup === undefined ? Effect.void : Effect.suspend(() => inRealm(Layer.build(setup)))
    // What an agent is that goes on is known once its log is found; without presets its own realm may be where it is kept.
    if (presets === undefined) yield* setUp
    const enter = (header: SessionHeader) =>
      Effect.gen(function* () {
        const preset = yield* presetOf(header)
        if (preset !== undefined) realm = Realm.fork(Context.merge(context, preset))
        if (presets !== undefined) yield* setUp
        return realm
      })
    const session = yield* inRealm(open({ realm: enter, keepers: realm }))
    // Closing the scope of a fiber interrupts it, so the driver has one that closes only after `dispose` has waited for it.
    const activities = yield* Effect.acquireRelease(Scope.make(), (own, exit) => Scope.close(own, exit))
    const { agent, dispose } = handle(session, realm, activities, {
      ...(provider !== undefined && { provider }),
      ...(model !== undefined && { model }),
      ...(reasoningEffort !== undefined && { reasoningEffort }),
      ...(maxTokens !== undefined && { maxTokens })
    })
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        life.value = agent
      }),
      () =>
        Effect.sync(() => {
          life.value = undefined
        })
    )
    yield* Effect.addFinalizer(() => inRealm(Effect.flatMap(AgentDisposed, (point) => point.emit(agent))))
    // Registered last, so it runs first: whatever the agent uses is still there while it winds down.
    yield* Effect.addFinalizer(() => dispose)
    yield* inRealm(Effect.flatMap(AgentCreated, (point) => point.run(agent)))
    yield* inRealm(Effect.flatMap(SessionStart, (point) => point.emit({ agent, source })))
    return agent
  })

  return Agents.of({ create, resume, fork, get: (id) => lives.get(id), list: () => lives.values() })
})

export const layer: Layer.Layer<Agents, never, LoopServices> = Layer.scoped(Agents, make)

const workingFor = ({ id, session }: Agent) => ({
  origin: "subagent" as const,
  parentSession: id,
  delegationDepth: (session.header.delegationDepth ?? 0) + 1
})

const freshId = Effect.map(fresh, (id) => SessionId(`session-${id}`))

// -----------------------------------------------------------------------------
// the handle
// -----------------------------------------------------------------------------

interface Owned {
  readonly agent: Agent
  /** Refuses further input, cancels, and waits until nothing runs. */
  readonly dispose: Effect.Effect<void>
}

const handle = (
  session: Session,
  realm: Context.Context<LoopServices>,
  scope: Scope.Scope,
  options: Agent["options"]
): Owned => {
  const llm = Context.get(realm, Llm)
  const models = Context.get(realm, ModelSelection)
  const formatOf = (name: string) => llm.format(name) ?? neutral
  const provide = <A, E>(effect: Effect.Effect<A, E, LoopServices | CurrentAgent>): Effect.Effect<A, E> =>
    Effect.provide(effect, Context.add(realm, CurrentAgent, agent))

  const disposed = new AgentError({
    code: "AGENT_DISPOSED",
    message: `agent ${session.id} is disposed; create or resume it before sending`
  })

  /** A change of the pending input is made and told as a whole, or not at all. */
  const change = <A>(effect: Effect.Effect<A, SendError, LoopServices | CurrentAgent>) =>
    provide(Effect.uninterruptible(Effect.suspend(() => state.refusal ?? effect)))

  const send: Agent["send"] = (input, target, wake, options) =>
    change(
      Effect.gen(function* () {
        const message = yield* toMessage(input)
        // Decided before the insertion: a cancel issued by one of its observers cannot reclassify it.
        const late = wake && Driver.isEnding(state)
        yield* AgentInbox.insert(state, message, late ? "next-turn" : target, options?.at)
        if (late) state.wakeRequested = true
        if (wake) yield* Driver.wake(state, scope)
        return message.id
      })
    )

  const agent: Agent = {
    id: session.id,
    session,
    options,
    realm,
    status: () => Driver.status(state),
    send,
    followup: (input, options) => send(input, "next-turn", true, options),
    steer: (input, options) => send(input, "next-step", true, options),
    inject: (input, options) => send(input, "next-step", false, options),
    withdraw: (id) => change(AgentInbox.withdraw(state, id)),
    replace: (id, input) =>
      change(
        Effect.flatMap(toMessage(input), (message) => Effect.as(AgentInbox.replace(state, id, message), message.id))
      ),
    cancel: (cause = { kind: "user" }, how) =>
      provide(
        Effect.suspend(() => {
          const clear = how?.clear === true && state.refusal === undefined
          if (clear) state.wakeRequested = false
          return Effect.zipRight(
            Driver.cancel(state, cause),
            clear ? Effect.ignoreLogged(AgentInbox.clear(state)) : Effect.void
          )
        })
      ),
    whenIdle: Effect.suspend(() => Driver.whenIdle(state)),
    awaitTurn: (id) => TurnHistory.awaitTurn(state, id),
    maintain: <A, E, R>(job: Effect.Effect<A, E, R>) =>
      Effect.contextWithEffect((caller: Context.Context<R>) =>
        provide(Driver.maintain(state, scope, Effect.provide(job, caller)))
      )
  }

  const state: AgentState = {
    agent,
    session,
    body: RequestBody.make(formatOf, newHash),
    activities: scope,
    activity: undefined,
    lastTurn: TurnHistory.lastTurn(session),
    step: 0,
    selected: () => models.get(agent),
    selection: undefined,
    applied: undefined,
    provider: "",
    published: "idle",
    wakeRequested: false,
    broken: undefined,
    refusal: undefined,
    inheritedHeader: session.conversation.header,
    claimed: new Map(),
    entered: new Set(),
    unlogged: new Map(),
    waiters: new Map(),
    callIds: TurnHistory.callIds(session)
  }

  const dispose = Effect.suspend(() => {
    state.refusal = disposed
    return Effect.zipRight(Driver.cancel(state, { kind: "disposed" }), Driver.whenIdle(state))
  }).pipe(Effect.zipRight(Effect.suspend(() => AgentInbox.releaseAll(state, disposed))))

  return { agent, dispose }
}

const toMessage = (input: Input): Effect.Effect<UserMessage> => {
  if (typeof input !== "string" && "role" in input) return Effect.succeed(input)
  return Effect.map(fresh, (id) => Message.user(MessageId(id), input))
}
