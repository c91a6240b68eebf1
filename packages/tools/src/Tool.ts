/**
 * A tool: one Effect Schema for its arguments, one for its value, and an Effect that turns the former into the latter.
 *
 * The schema drives everything: what the model is told, what is validated before the body runs, and the static types.
 */
import * as JsonValue from "@dsh/kernel/Json"
import type { Json, JsonObject } from "@dsh/kernel/Json"
import * as Thrown from "@dsh/kernel/Thrown"
import type { ContentBlock } from "@dsh/protocol/Block"
import type { CallId } from "@dsh/protocol/Ids"
import type { UserMessage } from "@dsh/protocol/Message"
import type { Session } from "@dsh/session/Session"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Schema from "effect/Schema"
import type { CallView, Presentation, ResultView, ShownResult } from "./Presentation.ts"
import { ToolError } from "./ToolError.ts"
import * as ToolSchema from "./ToolSchema.ts"

// -----------------------------------------------------------------------------
// models
// -----------------------------------------------------------------------------

/** What a body is told about the call it serves. */
export interface ToolContext {
  readonly callId: CallId
  /** The outermost call, and the token of this one: for a body that makes calls of its own. */
  readonly rootCallId: CallId
  readonly token: symbol
  /** The session the call belongs to; none for calls made outside an agent. */
  readonly session: Session | undefined
  /** The workspace folder: the session's absolute one, else `.`, the process's own. */
  readonly cwd: string
  /** Adds a message for the model, delivered after the whole batch of calls has its results. */
  readonly deferContext: (message: UserMessage) => Effect.Effect<void>
  /** The turn ends after this step unless other input is pending. */
  readonly concludeTurn: Effect.Effect<void>
}

/** A tool as its author writes it. `R` are the services its body needs; `Tools.layerTool` takes them when the tool is registered. */
export interface Definition<Name extends string, A, AI, V, VI, R> {
  readonly name: Name
  /** Names it had: a model that remembers one from an older session is served all the same. They are not told. */
  readonly aliases?: ReadonlyArray<string>
  readonly description: string
  /** A struct; it encodes to plain JSON. */
  readonly parameters: Schema.Schema<A, AI>
  /** The canonical value; it encodes to plain JSON. It is never shown, `render` is. */
  readonly output: Schema.Schema<V, VI>
  /** The body. Interruption is cancellation: clean up promptly. */
  readonly execute: (args: A, context: ToolContext) => Effect.Effect<V, ToolError, R>
  /** What the model reads. Pure. */
  readonly render: (args: A, value: V) => string | ReadonlyArray<ContentBlock>
  /** Replayable extra that is logged with the result. Pure. */
  readonly meta?: (args: A, value: V) => Json
  /** Whether such a call may overlap with others of its kind. Default false: it runs alone. */
  readonly parallelSafe?: boolean | ((args: A) => boolean)
  /** A deadline that the timeout policy enforces. None: the body owns its deadline. */
  readonly timeout?: Duration.DurationInput
  /** How a person sees the call and its result, live and on replay. Pure; never throws for old arguments. */
  readonly present?: Presentation<A>
}

/** What a body gave back, ready for the log. */
export interface ToolValue {
  readonly value: Json
  readonly content: ReadonlyArray<ContentBlock>
  readonly meta?: Json
}

/** A tool with its types and services taken care of: what the registry holds and the pipeline runs. */
export interface Tool<out R = never> {
  readonly name: string
  readonly aliases: ReadonlyArray<string>
  readonly description: string
  /** JSON Schema of the arguments, in the subset that strict providers accept. */
  readonly parameters: JsonObject
  /** JSON Schema of the value, `{}` where there is none to tell. Made when it is asked for: few programs do. None: nothing is known. */
  readonly output?: () => JsonObject
  readonly timeout: Duration.DurationInput | undefined
  /** Makes it whole where most of it is loaded late: until then it runs alone and has no views of its own. None: it is whole. */
  readonly load?: Effect.Effect<void>
  /** How people see a call with these arguments. Total: whatever cannot be shown gets the generic view. */
  readonly presentCall: (args: Json) => CallView | undefined
  /** How people see its result. Total like `presentCall`. */
  readonly presentResult: (result: ShownResult) => ResultView | undefined
  /** `true` only when the arguments are valid and the tool says so. */
  readonly isParallelSafe: (args: Json) => boolean
  /** Validates, runs, validates again, renders. `INVALID_ARGS`, `INVALID_TOOL_OUTPUT` or the body's own error. */
  readonly run: (args: Json, context: ToolContext) => Effect.Effect<ToolValue, ToolError, R>
  /** Renders a value that something else than the body produced. */
  readonly render: (args: Json, value: Json) => Effect.Effect<ToolValue, ToolError>
}

// -----------------------------------------------------------------------------
// constructor
// -----------------------------------------------------------------------------

/**
 * A tool from its definition. Throws `UnsupportedSchema` when a schema cannot be told to a strict provider: that is a mistake of
 * the program, found the moment the module loads.
 */
export const make = <const Name extends string, A, AI, V, VI, R = never>(
  definition: Definition<Name, A, AI, V, VI, R>
): Tool<R> => {
  const codec = ToolSchema.codec(definition.name, definition.parameters, definition.output)
  const { parallelSafe = false, render } = definition

  const unshown = (reason: string, cause?: unknown) =>
    new ToolError({
      code: "INVALID_TOOL_OUTPUT",
      message: `${definition.name} could not show its result: ${reason}`,
      cause
    })

  const show = (args: A, value: V): Effect.Effect<Omit<ToolValue, "value">, ToolError> =>
    Effect.try({
      try: () => {
        const content = render(args, value)
        const meta = definition.meta?.(args, value)
        return {
          content: typeof content === "string" ? [{ type: "text" as const, text: content }] : content,
          ...(meta !== undefined && { meta })
        }
      },
      catch: (cause) => unshown(Thrown.messageOf(cause) ?? "it threw", cause)
    })

  const present = (args: A, value: V): Effect.Effect<ToolValue, ToolError> =>
    Effect.flatMap(codec.encodeOutput(value), (encoded) =>
      Effect.flatMap(show(args, value), (shown) =>
        Either.mapBoth(JsonValue.snapshot(shown), {
          onLeft: ({ message }) => unshown(message),
          // A lossless snapshot has the shape of what it was taken from.
          onRight: (copy: unknown) => ({ value: encoded, ...(copy as typeof shown) })
        })
      )
    )

  return {
    name: definition.name,
    aliases: definition.aliases ?? [],
    description: definition.description,
    parameters: codec.parameters,
    output: codec.output,
    timeout: definition.timeout,
    presentCall: (args) => {
      let view: CallView | undefined
      codec.check(args, (valid) => {
        view = definition.present?.call?.(valid)
        return true
      })
      return view
    },
    presentResult: (result) => {
      try {
        return definition.present?.result?.(result)
      } catch {
        return undefined
      }
    },
    isParallelSafe: (args) => {
      if (typeof parallelSafe === "boolean") return parallelSafe && codec.check(args, () => true)
      return codec.check(args, (valid) => parallelSafe(valid) === true)
    },
    run: (args, context) =>
      Effect.flatMap(codec.decodeArgs(args), (valid) =>
        Effect.flatMap(definition.execute(valid, context), (value) => present(valid, value))
      ),
    render: (args, value) =>
      Effect.flatMap(codec.decodeArgs(args), (valid) =>
        Effect.flatMap(codec.decodeOutput(value), (decoded) => present(valid, decoded))
      )
  }
}
