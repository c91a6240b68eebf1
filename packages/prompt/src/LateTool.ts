/**
 * Tools that are told to the model before they are there: what it reads of them is known beforehand, so their modules are loaded with
 * the first call and not before the first request.
 */
import type { JsonObject } from "@dsh/kernel/Json"
import * as Late from "@dsh/kernel/Late"
import * as Thrown from "@dsh/kernel/Thrown"
import type { Tool } from "@dsh/tools/Tool"
import { ToolError } from "@dsh/tools/ToolError"
import * as Tools from "@dsh/tools/Tools"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as SystemPrompt from "./SystemPrompt.ts"

/** What a model and a program that calls tools are told of one. */
export interface Card {
  readonly name: string
  readonly aliases: ReadonlyArray<string>
  readonly description: string
  readonly parameters: JsonObject
  /** JSON: few programs ask for it. */
  readonly output: string
  /** Milliseconds; none: it owns its deadline. */
  readonly timeout?: number
}

/** Of tools that one Layer registers. */
export interface Told {
  readonly tools: ReadonlyArray<Card>
  readonly sections: ReadonlyArray<SystemPrompt.Section & { readonly text: string }>
}

/** What a module with tools exports as a Layer. */
export type ToolLayer<R> = Layer.Layer<
  never,
  Tools.ToolRegistrationError | SystemPrompt.PromptError,
  Tools.Tools | SystemPrompt.SystemPrompt | R
>

/**
 * Tells of the tools at once, and builds `load`'s Layer when one of them is called. They have the services of this Layer, and end with
 * it. A call fails with `TOOL_NOT_LOADED` when the module cannot be loaded or does not have the tool.
 */
export const layer = <R>(told: Told, load: () => Promise<ToolLayer<R>>): ToolLayer<Exclude<R, Scope.Scope>> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const tools = yield* Tools.Tools
      const prompt = yield* SystemPrompt.SystemPrompt
      const build = yield* Late.once(built(load))
      for (const card of told.tools) yield* tools.register(late(card, build))
      for (const section of told.sections) yield* prompt.section(section)
    })
  )

type Real = ReadonlyMap<string, Tool>

/** What the Layer registers, where nobody else sees it: everybody has been told. */
const built = <R>(load: () => Promise<ToolLayer<R>>) =>
  Effect.gen(function* () {
    const loaded = yield* Effect.tryPromise({ try: load, catch: (error) => error })
    const scope = yield* Effect.scope
    const aside = yield* Layer.buildWithScope(Layer.merge(Tools.layer, SystemPrompt.layer), scope)
    yield* Effect.provide(Layer.buildWithScope(loaded, scope), aside)
    return new Map(
      Context.get(aside, Tools.Tools)
        .list()
        .map((tool) => [tool.name, tool])
    )
  }).pipe(Effect.mapError((error) => notLoaded(Thrown.messageOf(error) ?? "it threw", error)))

const late = (card: Card, build: Effect.Effect<Real, ToolError>): Tool => {
  let real: Tool | undefined
  const whole = Effect.flatMap(build, (tools) => {
    real = tools.get(card.name)
    return real === undefined ? notLoaded(`its module has no ${card.name}`) : Effect.succeed(real)
  })
  return {
    name: card.name,
    aliases: card.aliases,
    description: card.description,
    parameters: card.parameters,
    output: () => JSON.parse(card.output),
    timeout: card.timeout,
    // Why it failed is what the call is answered with.
    load: Effect.asVoid(Effect.either(whole)),
    presentCall: (args) => real?.presentCall(args),
    presentResult: (result) => real?.presentResult(result),
    isParallelSafe: (args) => real?.isParallelSafe(args) === true,
    run: (args, context) => Effect.flatMap(whole, (tool) => tool.run(args, context)),
    render: (args, value) => Effect.flatMap(whole, (tool) => tool.render(args, value))
  }
}

const notLoaded = (reason: string, cause?: unknown) =>
  new ToolError({
    code: "TOOL_NOT_LOADED",
    message: `the tool could not be loaded: ${reason}; if dsh was updated or built since it was started, start it again`,
    cause
  })
