/**
 * The seam through which agents come to life. The loop provides it; whoever wants an agent asks here and knows no loop.
 */
import type { SessionId } from "@dsh/protocol/Ids"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import type { SessionError } from "@dsh/session/SessionError"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Agent, AgentOptions } from "./Agent.ts"
import type { AgentError } from "./AgentError.ts"

export interface CreateOptions<E = never, R = never> extends AgentOptions {
  /** Default: `session-<uuid>`. */
  readonly id?: SessionId
  /** Absolute path of the workspace. */
  readonly cwd?: string
  /** Events to start from. */
  readonly seed?: Iterable<SessionEvent>
  /** What kind of agent it is, and its session stays; see `AgentPresets`. Default: the standing one, where there are presets. */
  readonly preset?: string
  /** Whom it works for: its session is kept as one of a sub-agent, and they share what is rationed. */
  readonly parent?: Agent
  /** Built in the agent's own realm before anybody can find the agent: its private tools, sections and hooks. */
  readonly setup?: Layer.Layer<never, E, R>
}

export interface ResumeOptions<E = never, R = never> extends AgentOptions {
  readonly id: SessionId
  /** See `CreateOptions.setup`. */
  readonly setup?: Layer.Layer<never, E, R>
}

export interface ForkOptions<E = never, R = never> extends AgentOptions {
  readonly source: SessionId
  /** See `Sessions.ForkOptions.at`. */
  readonly at?: number
  /** Default: `session-<uuid>`. */
  readonly id?: SessionId
  /** See `CreateOptions.setup`. */
  readonly setup?: Layer.Layer<never, E, R>
}

export class Agents extends Context.Tag("@dsh/agent/Agents")<
  Agents,
  {
    /** A new agent that lives until the current Scope closes: then it is cancelled, waited for and taken down. */
    readonly create: <E = never, R = never>(
      options: CreateOptions<E, R>
    ) => Effect.Effect<Agent, AgentError | SessionError | E, R | Scope.Scope>
    /**
     * An agent over a stored session, which goes on where it was: same id, same workspace, same model unless the options name another.
     * Input that was pending is still pending; it waits until somebody wakes the agent. Fails as `Sessions.resume` does.
     */
    readonly resume: <E = never, R = never>(
      options: ResumeOptions<E, R>
    ) => Effect.Effect<Agent, AgentError | SessionError | E, R | Scope.Scope>
    /** An agent over a new session that begins with the history of another. Fails as `Sessions.fork` does. */
    readonly fork: <E = never, R = never>(
      options: ForkOptions<E, R>
    ) => Effect.Effect<Agent, AgentError | SessionError | E, R | Scope.Scope>
    readonly get: (id: SessionId) => Agent | undefined
    readonly list: () => ReadonlyArray<Agent>
  }
>() {}
