/**
 * What people tell a session with a slash: `/permission read-only`. Commands never reach the model. Every front-end has the same ones,
 * and what a realm registers is its own.
 */
import type { Agent } from "@dsh/agent/Agent"
import * as Ids from "@dsh/kernel/Ids"
import * as Realm from "@dsh/kernel/Realm"
import type { Forkable } from "@dsh/kernel/Realm"
import * as Registry from "@dsh/kernel/Registry"
import * as Thrown from "@dsh/kernel/Thrown"
import type { AttachmentRef } from "@dsh/protocol/Block"
import type { SessionError } from "@dsh/session/SessionError"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as CommandEvents from "./CommandEvents.ts"
import * as Line from "./Line.ts"

export interface Call {
  readonly commandId: string
  /** Whose session it is about. */
  readonly agent: Agent
  /** What stands behind the name, as it was typed. */
  readonly rawInput: string
  readonly attachments: ReadonlyArray<AttachmentRef>
}

export type Result =
  | { readonly kind: "success"; readonly text?: string; readonly sourceEventSeq?: number }
  | { readonly kind: "error"; readonly text: string }

export interface Command<R = never> {
  /** Lower-case letters, digits, `_` and `-`; the first is a letter. */
  readonly name: string
  /** One sentence for listings. */
  readonly description: string
  /** Left out: nothing stands behind the name. */
  readonly input?: { readonly hint: string; readonly images?: boolean }
  /** Whether the log may say what stands behind the name. Default true. */
  readonly recordInput?: boolean
  /** What people did wrong is a result of kind `error`; a failure is one of the command. Interruption cancels it. */
  readonly handler: (call: Call) => Effect.Effect<Result, unknown, R>
}

export class CommandError extends Data.TaggedError("CommandError")<{
  readonly code: "INVALID_NAME" | "INVALID_DESCRIPTION" | "DUPLICATE_NAME" | "COMMAND_FAILED"
  readonly message: string
  readonly cause?: unknown
}> {}

export interface RunOptions {
  /** The front-end, for the log. */
  readonly source: string
  readonly attachments?: ReadonlyArray<AttachmentRef>
}

interface Service extends Forkable<Service> {
  /** Adds a command for as long as the current Scope is open. A name is taken once per realm; the nearest realm wins. */
  readonly register: <R>(command: Command<R>) => Effect.Effect<void, CommandError, R | Scope.Scope>
  readonly get: (name: string) => Command | undefined
  /** By name, in code-unit order. */
  readonly list: () => ReadonlyArray<Command>
  /** From the moment the stream runs. */
  readonly changes: Stream.Stream<Registry.Change<Command>>
  /**
   * Runs the command that a line names; nothing when it names none. Logs that it was given and what came of it. Fails with
   * `COMMAND_FAILED` when its handler did, which is in the log by then.
   */
  readonly run: (
    agent: Agent,
    line: string,
    options: RunOptions
  ) => Effect.Effect<Option.Option<Result>, CommandError | SessionError>
}

export class Commands extends Context.Tag("@dsh/commands/Commands")<Commands, Service>() {}

/** Those that `agent` has; nothing where commands are no part of the composition. */
export const of = (agent: Agent): Service | undefined =>
  Option.getOrUndefined(Context.getOption(agent.realm as Context.Context<Commands>, Commands))

const invalid = (command: Command<never>): CommandError | undefined => {
  if (!Line.isName(command.name)) {
    const message = `"${command.name}" cannot name a command; use lower-case letters, digits, "_" and "-", a letter first`
    return new CommandError({ code: "INVALID_NAME", message })
  }
  if (command.description.trim() !== "") return undefined
  const message = `the command /${command.name} has no description; say in one sentence what it does`
  return new CommandError({ code: "INVALID_DESCRIPTION", message })
}

const done = (result: Result) => ({
  kind: result.kind,
  ...(result.text !== undefined && { text: result.text }),
  ...(result.kind === "success" && result.sourceEventSeq !== undefined && { sourceEventSeq: result.sourceEventSeq })
})

/** What a handler that failed, died or was cancelled leaves in the log. */
const reasonOf = (cause: Cause.Cause<unknown>): string =>
  Cause.isInterruptedOnly(cause) ? "it was cancelled" : (Thrown.messageOf(Cause.squash(cause)) ?? "it failed")

const execute = (command: Command, agent: Agent, input: string, { attachments = [], source }: RunOptions) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const commandId = yield* Ids.fresh
      const { session } = agent
      yield* session.append("command/run", {
        commandId,
        name: command.name,
        ...(command.recordInput !== false && input !== "" && { args: input }),
        source
      })
      const handled: Effect.Effect<Result, unknown> =
        attachments.length > 0 && command.input?.images !== true
          ? Effect.succeed({ kind: "error", text: `/${command.name} takes no images` })
          : Effect.suspend(() => command.handler({ commandId, agent, rawInput: input, attachments }))
      const result = yield* restore(handled).pipe(
        Effect.tapErrorCause((cause) =>
          Effect.ignore(session.append("command/done", { commandId, kind: "error", text: reasonOf(cause) }))
        ),
        Effect.mapError(
          (cause) =>
            new CommandError({
              code: "COMMAND_FAILED",
              message: `/${command.name} failed: ${Thrown.messageOf(cause) ?? "without a reason"}`,
              cause
            })
        )
      )
      yield* session.append("command/done", { commandId, ...done(result) })
      return result
    })
  )

const from = (registry: Registry.Registry<Command>): Service => {
  const get = (name: string) => Option.getOrUndefined(registry.get(name))
  return {
    [Realm.Fork]: () => from(registry[Realm.Fork]()),
    register: <R>(command: Command<R>) =>
      Effect.contextWithEffect((registrant: Context.Context<R>) => {
        const problem = invalid(command as Command<never>)
        if (problem !== undefined) return Effect.fail(problem)
        const provide = Realm.withRegistrant(registrant)
        const held: Command = { ...command, handler: (call) => provide(() => command.handler(call)) }
        return Effect.mapError(
          registry.register(command.name, held),
          ({ code, message }) => new CommandError({ code, message })
        )
      }),
    get,
    list: () =>
      registry
        .entries()
        .map(([, command]) => command)
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    changes: registry.changes,
    run: (agent, line, options) => {
      const named = Line.parse(line)
      const command = named === undefined ? undefined : get(named.name)
      return named === undefined || command === undefined
        ? Effect.succeedNone
        : Effect.asSome(execute(command, agent, named.rawInput, options))
    }
  }
}

/** One command as a Layer. */
export const layerCommand = <R>(command: Command<R>): Layer.Layer<never, CommandError, Commands | R> =>
  Layer.scopedDiscard(Effect.flatMap(Commands, (commands) => commands.register(command)))

/** The registry, without a command. */
export const layer = Layer.merge(
  Layer.sync(Commands, () => from(Registry.make<Command>("the commands"))),
  CommandEvents.layer
)
