/**
 * What each session may do: its mode is the last one its log names, else the standing one; its workspace is the folder it was made in.
 *
 * `SandboxPolicy.layer` also makes that the confinement of every tool call, so tools need not know.
 */
import { SystemPrompt } from "@dsh/prompt/SystemPrompt"
import type { PromptError } from "@dsh/prompt/SystemPrompt"
import * as EventTypes from "@dsh/session/EventTypes"
import type { Session } from "@dsh/session/Session"
import type { SessionError } from "@dsh/session/SessionError"
import { ToolError } from "@dsh/tools/ToolError"
import { Execute } from "@dsh/tools/ToolHooks"
import { CurrentConfinement, modes } from "@dsh/world/Confinement"
import type { Confinement, SandboxMode } from "@dsh/world/Confinement"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { SandboxError } from "./Sandbox.ts"
import * as SessionFolders from "./SandboxPolicy/SessionFolders.ts"

declare module "@dsh/protocol/SessionEvent" {
  interface SessionEvents {
    /** From here on the session is confined like this. */
    readonly "sandbox/mode": { readonly mode: SandboxMode; readonly source?: "delegation" }
  }
}

const schema = () =>
  Schema.Struct({ mode: Schema.Literal(...modes), source: Schema.optional(Schema.Literal("delegation")) })

export interface Options {
  /** Of sessions that name none. Default `read-only`, the one that can do no harm. */
  readonly mode?: SandboxMode
  /** Default `on`. */
  readonly network?: Confinement["network"]
  /** For calls outside of a session, and for sessions without a folder. Default: that of the process. */
  readonly workspace?: string
  /** Files and folders nobody confined may look at, absolute. */
  readonly hidden?: ReadonlyArray<string>
  /** What a session may look at inside of those. */
  readonly shown?: (session: Session) => ReadonlyArray<string>
  /** Where the folders are made that sessions have as `/tmp`. Default: a private one in the system's temporary folder. */
  readonly tempParent?: string
}

export class SandboxPolicy extends Context.Tag("@dsh/sandbox/SandboxPolicy")<
  SandboxPolicy,
  {
    /** For whatever does not belong to a session. */
    readonly standing: Effect.Effect<Confinement, SandboxError>
    /** As it is now. Fails with `SANDBOX_UNAVAILABLE` when the session cannot have a `/tmp` of its own. */
    readonly of: (session: Session) => Effect.Effect<Confinement, SandboxError>
    readonly mode: (session: Session) => SandboxMode
    /** Logs another mode, for the calls that begin from here on. Nothing when it is that already. */
    readonly setMode: (session: Session, mode: SandboxMode, source?: "delegation") => Effect.Effect<void, SessionError>
  }
>() {}

export const make = (options: Options = {}): Effect.Effect<SandboxPolicy["Type"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const { hidden = [], mode: standingMode = "read-only", network = "on", shown = () => [] } = options
    const folders = yield* SessionFolders.make(options)
    const modesOf = new WeakMap<Session, { mode: SandboxMode; next: number }>()

    const modeOf = (session: Session): SandboxMode => {
      let known = modesOf.get(session)
      if (known === undefined) modesOf.set(session, (known = { mode: standingMode, next: 0 }))
      for (const event of session.range(known.next)) if (event.type === "sandbox/mode") known.mode = event.data.mode
      known.next = session.length
      return known.mode
    }

    return SandboxPolicy.of({
      standing: Effect.map(folders.standing, (places) => ({
        ...places,
        mode: standingMode,
        network,
        hidden,
        shown: []
      })),
      of: (session) =>
        Effect.map(folders.of(session), (places) => ({
          ...places,
          mode: modeOf(session),
          network,
          hidden,
          shown: shown(session)
        })),
      mode: modeOf,
      setMode: (session, mode, source) =>
        Effect.suspend(() =>
          modeOf(session) === mode
            ? Effect.void
            : Effect.asVoid(session.append("sandbox/mode", { mode, ...(source !== undefined && { source }) }))
        )
    })
  })

/** Every tool call is confined as its session is. What is registered inside of this may widen it for one call. */
const confining = Execute.hook(
  "sandbox",
  (execution, next) =>
    Effect.gen(function* () {
      const policy = yield* SandboxPolicy
      const { session } = execution
      const confinement = yield* Effect.mapError(
        session === undefined ? policy.standing : policy.of(session),
        ({ cause, code, message }) => new ToolError({ code, message, cause })
      )
      return yield* Effect.provideService(next(execution), CurrentConfinement, confinement)
    }),
  { order: -10_000 }
)

const told: Readonly<Record<SandboxMode, (workspace: string) => string>> = {
  "read-only": () =>
    "Sandbox: read-only. Files can be read and commands run, but only /tmp can be changed. Try what the task needs all the same.",
  "workspace-write": (workspace) =>
    `Sandbox: workspace-write. Files below ${workspace} and in /tmp can be changed, nothing else. /tmp is this session's own.`,
  "danger-full-access": () => "Sandbox: none. Commands and tools can change whatever the user can."
}

/** Tells the model which mode holds, and again when that changes. */
const telling: Layer.Layer<never, PromptError, SystemPrompt | SandboxPolicy> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const policy = yield* SandboxPolicy
    const prompt = yield* SystemPrompt
    yield* prompt.context({
      name: "sandbox",
      order: 110,
      text: ({ session }) =>
        Effect.sync(() => told[policy.mode(session)](session.header.cwd ?? "the folder of the process"))
    })
  })
)

export const layer = (options?: Options) =>
  Layer.mergeAll(EventTypes.layerType("sandbox/mode", { schema, ignorable: false }), confining, telling).pipe(
    Layer.provideMerge(Layer.scoped(SandboxPolicy, make(options)))
  )
