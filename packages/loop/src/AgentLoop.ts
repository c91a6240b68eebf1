/**
 * The concrete agent loop: provides `Agents`. Bundles and apps choose it; extensions never need to know it.
 */
import type { Agent, AgentOptions, Input } from "@dsh/agent/Agent"
import { CurrentAgent } from "@dsh/agent/Agent"
import { AgentError } from "@dsh/agent/AgentError"
import { AgentCreated, AgentDisposed, SessionStart } from "@dsh/agent/AgentHooks"
import { Agents } from "@dsh/agent/Agents"
import type { CreateOptions, ForkOptions, ResumeOptions } from "@dsh/agent/Agents"
import { fresh } from "@dsh/kernel/Ids"
import * as Realm from "@dsh/kernel/Realm"
import { Llm } from "@dsh/llm/Llm"
import { newHash } from "@dsh/llm/RequestDigest"
import { MessageId } from "@dsh/protocol/Ids"
import type { SessionId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { UserMessage } from "@dsh/protocol/Message"
import { neutral } from "@dsh/protocol/NeutralRequest"
import * as RequestBody from "@dsh/protocol/RequestBody"
import type { Session } from "@dsh/session/Session"
import type { SessionError } from "@dsh/session/SessionError"
import { Sessions } from "@dsh/session/Sessions"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as AgentInbox from "./AgentInbox.ts"
import type { AgentState } from "./AgentState.ts"
import * as Driver from "./Driver.ts"
import * as TurnHistory from "./TurnHistory.ts"

/** What the loop is made of. Leaving one out is a compile error. */
export type LoopServices = Sessions | Driver.DriverServices

interface Setup<E, R> {
  readonly setup?: Layer.Layer<never, E, R>
}

export const make: Effect.Effect<Agents["Type"], never, LoopServices> = Effect.gen(function* () {
  const context = yield* Effect.context<LoopServices>()
  const sessions = yield* Sessions
  const live = new Map<SessionId, Agent>()

  const create = Effect.fn("Agents.create")(<E, R>(options: CreateOptions<E, R>) => {
    const { cwd, id, seed } = options
    const session = sessions.create({
      ...(id !== undefined && { id }),
      ...(cwd !== undefined && { cwd }),
      ...(seed !== undefined && { seed })
    })
    return owned(options, session, "startup")
  })

  const resume = Effect.fn("Agents.resume")(<E, R>(options: ResumeOptions<E, R>) =>
    owned(options, sessions.resume(options.id), "resume")
  )

  const fork = Effect.fn("Agents.fork")(<E, R>(options: ForkOptions<E, R>) => {
    const { at, id, source } = options
    const session = sessions.fork(source, { ...(id !== undefined && { id }), ...(at !== undefined && { at }) })
    return owned(options, session, "startup")
  })

  const owned = Effect.fnUntraced(function* <E, R>(
    options: AgentOptions & Setup<E, R>,
    session: Effect.Effect<Session, SessionError, Scope.Scope>,
    source: "startup" | "resume"
  ) {
    const { maxTokens } = options
    if (maxTokens !== undefined && !(Number.isSafeInteger(maxTokens) && maxTokens > 0)) {
      return yield* new AgentError({
        code: "INVALID_OPTIONS",
        message: `maxTokens is ${maxTokens}; use a whole number above 0`
      })
    }
    // The agent ends with the scope that asked for it, through one scope of its own that a failing creation closes at once.
    const scope = yield* Effect.acquireRelease(Scope.make(), (own, exit) => Scope.close(own, exit))
    return yield* Effect.provideService(build(options, session, source), Scope.Scope, scope).pipe(
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
  })

  const build = Effect.fnUntraced(function* <E, R>(
    options: AgentOptions & Setup<E, R>,
    opened: Effect.Effect<Session, SessionError, Scope.Scope>,
    source: "startup" | "resume"
  ) {
    const { maxTokens, model, provider, reasoningEffort, setup } = options
    const session = yield* opened
    const realm = Realm.fork(context)
    // Closing the scope of a fiber interrupts it, so the driver has one that closes only after `dispose` has waited for it.
    const activities = yield* Effect.acquireRelease(Scope.make(), (own, exit) => Scope.close(own, exit))
    const agent = handle(session, realm, activities, {
      ...(provider !== undefined && { provider }),
      ...(model !== undefined && { model }),
      ...(reasoningEffort !== undefined && { reasoningEffort }),
      ...(maxTokens !== undefined && { maxTokens })
    })
    if (setup !== undefined) {
      yield* Effect.mapInputContext(Layer.build(setup), (caller: Context.Context<R | Scope.Scope>) =>
        Context.merge(caller, realm)
      )
    }
    const inRealm = <A, E2>(effect: Effect.Effect<A, E2, LoopServices>) => Effect.provide(effect, realm)
    yield* Effect.acquireRelease(
      Effect.sync(() => void live.set(session.id, agent.agent)),
      () => Effect.sync(() => void live.delete(session.id))
    )
    yield* Effect.addFinalizer(() => inRealm(Effect.flatMap(AgentDisposed, (point) => point.emit(agent.agent))))
    // Registered last, so it runs first: whatever the agent uses is still there while it winds down.
    yield* Effect.addFinalizer(() => agent.dispose)
    yield* inRealm(Effect.flatMap(AgentCreated, (point) => point.run(agent.agent)))
    yield* inRealm(Effect.flatMap(SessionStart, (point) => point.emit({ agent: agent.agent, source })))
    return agent.agent
  })

  return Agents.of({ create, resume, fork, get: (id) => live.get(id), list: () => [...live.values()] })
})

export const layer: Layer.Layer<Agents, never, LoopServices> = Layer.effect(Agents, make)

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
  const formatOf = (name: string) => llm.format(name) ?? neutral
  const provide = <A, E>(effect: Effect.Effect<A, E, LoopServices | CurrentAgent>): Effect.Effect<A, E> =>
    Effect.provide(effect, Context.add(realm, CurrentAgent, agent))

  const refuse = new AgentError({
    code: "AGENT_DISPOSED",
    message: `agent ${session.id} is disposed; create or resume it before sending`
  })

  const send: Agent["send"] = (input, target, wake) =>
    provide(
      // Accepted and woken, or neither.
      Effect.uninterruptible(
        Effect.gen(function* () {
          if (state.disposed) return yield* refuse
          const message = yield* toMessage(input)
          // Decided before the insertion: a cancel issued by one of its observers cannot reclassify it.
          const late = wake && Driver.isEnding(state)
          yield* AgentInbox.insert(state, message, late ? "next-turn" : target)
          if (late) state.wakeRequested = true
          if (wake) yield* Driver.wake(state, scope)
          return message.id
        })
      )
    )

  const agent: Agent = {
    id: session.id,
    session,
    options,
    status: () => Driver.status(state),
    send,
    followup: (input) => send(input, "next-turn", true),
    steer: (input) => send(input, "next-step", true),
    inject: (input) => send(input, "next-step", false),
    withdraw: (id) => provide(state.disposed ? Effect.fail(refuse) : AgentInbox.withdraw(state, id)),
    cancel: (cause = { kind: "user" }, how) =>
      provide(
        Effect.suspend(() => {
          const clear = how?.clear === true && !state.disposed
          if (clear) state.wakeRequested = false
          return Effect.zipRight(
            Driver.cancel(state, cause),
            clear ? Effect.ignoreLogged(AgentInbox.clear(state)) : Effect.void
          )
        })
      ),
    whenIdle: Effect.suspend(() => Driver.whenIdle(state)),
    awaitTurn: (id) => TurnHistory.awaitTurn(state, id, refuse),
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
    wakeRequested: false,
    disposed: false,
    requested: false,
    claimed: new Map(),
    entered: new Set(),
    unentered: new Map(),
    waiters: new Map(),
    callIds: TurnHistory.callIds(session)
  }

  const dispose = Effect.suspend(() => {
    state.disposed = true
    return Effect.zipRight(Driver.cancel(state, { kind: "disposed" }), Driver.whenIdle(state))
  }).pipe(
    Effect.zipRight(
      Effect.forEach(state.waiters.values(), (waiter) => Deferred.fail(waiter, refuse), { discard: true })
    )
  )

  return { agent, dispose }
}

const toMessage = (input: Input): Effect.Effect<UserMessage> => {
  if (typeof input !== "string" && "role" in input) return Effect.succeed(input)
  return Effect.map(fresh, (id) => Message.user(MessageId(id), input))
}
