/**
 * What goes into the system prompt and the runtime context: named, ordered contributions, layered by realm.
 *
 * A section is part of the system text and must be stable, or the provider's prefix cache is lost at every step. Facts that change
 * (time, mode, state of the workspace) are contexts: they are told in a message, and again only when they changed.
 */
import * as Realm from "@dsh/kernel/Realm"
import type { Forkable } from "@dsh/kernel/Realm"
import * as Registry from "@dsh/kernel/Registry"
import type { Session } from "@dsh/session/Session"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

/** For whom a prompt is assembled. */
export interface PromptContext {
  readonly session: Session
  readonly provider: string
  readonly model: string
}

export type Text = string | ((context: PromptContext) => Effect.Effect<string, PromptError>)

export interface Section {
  readonly name: string
  /** Bands: identity -100, persona 0, tool guidance 100 to 199. Equal orders keep registration order. */
  readonly order: number
  /** May refer to variables as `{{name}}`. An empty text leaves no trace. */
  readonly text: Text
  /** The whole prompt: no other section is used. */
  readonly complete?: boolean
}

export interface RuntimeContext {
  readonly name: string
  readonly order: number
  readonly text: Text
}

export type Variable = (context: PromptContext) => string | undefined

export class PromptError extends Data.TaggedError("PromptError")<{
  readonly code: "DUPLICATE_NAME" | "INVALID_NAME" | "UNKNOWN_VARIABLE" | "TWO_COMPLETE_SECTIONS" | "SECTION_FAILED"
  readonly message: string
  readonly cause?: unknown
}> {}

interface Service extends Forkable<Service> {
  readonly section: (section: Section) => Effect.Effect<void, PromptError, Scope.Scope>
  readonly context: (context: RuntimeContext) => Effect.Effect<void, PromptError, Scope.Scope>
  /** Names are lower-case identifiers. */
  readonly variable: (name: string, value: Variable) => Effect.Effect<void, PromptError, Scope.Scope>
  /** No runtime context is told in this realm. */
  readonly suppressContexts: Effect.Effect<void, never, Scope.Scope>
  /** In dispatch order. */
  readonly sections: () => ReadonlyArray<Section>
  readonly contexts: () => ReadonlyArray<RuntimeContext>
  readonly variables: () => ReadonlyMap<string, Variable>
}

export class SystemPrompt extends Context.Tag("@dsh/prompt/SystemPrompt")<SystemPrompt, Service>() {}

const variableName = /^[a-z][a-z0-9_]*$/

interface Registries {
  readonly sections: Registry.Registry<Section>
  readonly contexts: Registry.Registry<RuntimeContext>
  readonly variables: Registry.Registry<Variable>
  readonly suppressions: Set<symbol>
  readonly suppressed: () => boolean
}

const service = ({ contexts, sections, suppressed, suppressions, variables }: Registries): Service => {
  const orderedSections = ordered(sections)
  const orderedContexts = ordered(contexts)
  return {
    [Realm.Fork]: () => {
      const own = new Set<symbol>()
      return service({
        sections: sections[Realm.Fork](),
        contexts: contexts[Realm.Fork](),
        variables: variables[Realm.Fork](),
        suppressions: own,
        suppressed: () => own.size > 0 || suppressed()
      })
    },
    section: (section) => register(sections, section.name, section),
    context: (context) => register(contexts, context.name, context),
    variable: (name, value) =>
      variableName.test(name)
        ? register(variables, name, value)
        : Effect.fail(
            new PromptError({
              code: "INVALID_NAME",
              message: `"${name}" cannot name a prompt variable; use a lower-case identifier`
            })
          ),
    suppressContexts: Effect.asVoid(
      Effect.acquireRelease(
        Effect.sync(() => {
          const mark = Symbol("suppressed")
          suppressions.add(mark)
          return mark
        }),
        (mark) => Effect.sync(() => suppressions.delete(mark))
      )
    ),
    sections: orderedSections,
    contexts: () => (suppressed() ? [] : orderedContexts()),
    variables: () => new Map(variables.entries())
  }
}

const register = <A>(registry: Registry.Registry<A>, name: string, value: A) =>
  Effect.mapError(registry.register(name, value), ({ message }) => new PromptError({ code: "DUPLICATE_NAME", message }))

/** Asked for at every step and hardly ever changed, so the answer is kept. */
const ordered = <A extends { readonly order: number }>(registry: Registry.Registry<A>): (() => ReadonlyArray<A>) => {
  let version = -1
  let values: ReadonlyArray<A> = []
  return () => {
    if (version !== registry.version()) {
      version = registry.version()
      values = registry
        .entries()
        .map(([, value]) => value)
        .sort((a, b) => a.order - b.order)
    }
    return values
  }
}

/** The registry without contributions. */
export const layer: Layer.Layer<SystemPrompt> = Layer.sync(SystemPrompt, () => {
  const suppressions = new Set<symbol>()
  return service({
    sections: Registry.make("the prompt sections"),
    contexts: Registry.make("the runtime contexts"),
    variables: Registry.make("the prompt variables"),
    suppressions,
    suppressed: () => suppressions.size > 0
  })
})

/** One section as a Layer. */
export const layerSection = (section: Section): Layer.Layer<never, PromptError, SystemPrompt> =>
  Layer.scopedDiscard(Effect.flatMap(SystemPrompt, (prompt) => prompt.section(section)))

/** One runtime context as a Layer. */
export const layerContext = (context: RuntimeContext): Layer.Layer<never, PromptError, SystemPrompt> =>
  Layer.scopedDiscard(Effect.flatMap(SystemPrompt, (prompt) => prompt.context(context)))
