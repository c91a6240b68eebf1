/**
 * The registry of tools, layered by realm: what a realm registers is its own, what it inherits it may restrict, and a guard it sets
 * can only deny.
 */
import * as Realm from "@dsh/kernel/Realm"
import type { Forkable } from "@dsh/kernel/Realm"
import * as Registry from "@dsh/kernel/Registry"
import type { ToolSchema } from "@dsh/protocol/Request"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { ToolExecution } from "./ToolHooks.ts"
import type * as Tool from "./Tool.ts"

export class ToolRegistrationError extends Data.TaggedError("ToolRegistrationError")<{
  readonly code: "DUPLICATE_NAME" | "INVALID_NAME" | "UNKNOWN_TOOL" | "EMPTY_FILTER"
  readonly message: string
}> {}

export interface Filter {
  readonly allow?: ReadonlyArray<string>
  readonly deny?: ReadonlyArray<string>
}

/** Denies with a reason, or abstains. Synchronous; a throw fails the call. */
export type Guard = (execution: ToolExecution) => string | undefined

interface Service extends Forkable<Service> {
  /** Adds a tool for as long as the current Scope is open. A name is taken once per realm; the nearest realm wins. */
  readonly register: (tool: Tool.Tool) => Effect.Effect<void, ToolRegistrationError, Scope.Scope>
  /** The visible tool of that name. */
  readonly get: (name: string) => Tool.Tool | undefined
  /** The visible tools, by name in code-unit order: an order that does not depend on who registered first. */
  readonly list: () => ReadonlyArray<Tool.Tool>
  /** What the model is told of them, in the same order. The same array until something changes. */
  readonly schemas: () => ReadonlyArray<ToolSchema>
  /** Narrows what this realm inherits; its own tools are exempt. Names must be known. */
  readonly restrict: (filter: Filter) => Effect.Effect<void, ToolRegistrationError, Scope.Scope>
  /** Adds a deny-only check that runs after every policy, so that no ordering can undo it. */
  readonly guard: (guard: Guard) => Effect.Effect<void, never, Scope.Scope>
  /** Guards in force, outer realms first. */
  readonly guards: () => ReadonlyArray<Guard>
}

export class Tools extends Context.Tag("@dsh/tools/Tools")<Tools, Service>() {}

/** In a box of its own each: one filter or guard may be set twice, and each time ends with its own Scope. */
type Held<A> = Set<{ readonly member: A }>

const validName = /^[a-zA-Z0-9_-]{1,64}$/

class Layered implements Service {
  private readonly parent: Layered | undefined
  private readonly registry: Registry.Registry<Tool.Tool>
  private readonly filters: Held<Filter> = new Set()
  private readonly ownGuards: Held<Guard> = new Set()
  private filterVersion = 0
  private cached: { readonly version: number; readonly schemas: ReadonlyArray<ToolSchema> } | undefined

  constructor(registry: Registry.Registry<Tool.Tool>, parent?: Layered) {
    this.registry = registry
    this.parent = parent
  }

  readonly [Realm.Fork] = (): Service => new Layered(this.registry[Realm.Fork](), this)

  readonly register: Service["register"] = (tool) => {
    if (!validName.test(tool.name)) {
      return new ToolRegistrationError({
        code: "INVALID_NAME",
        message: `"${tool.name}" cannot name a tool; use 1 to 64 letters, digits, "_" and "-"`
      })
    }
    return Effect.mapError(
      this.registry.register(tool.name, tool),
      ({ message }) => new ToolRegistrationError({ code: "DUPLICATE_NAME", message })
    )
  }

  readonly get: Service["get"] = (name) => this.named(name) ?? this.list().find((tool) => tool.aliases.includes(name))

  private readonly named = (name: string): Tool.Tool | undefined => {
    const own = this.registry.own().find(([taken]) => taken === name)
    if (own !== undefined) return own[1]
    return this.passes(name) ? this.parent?.named(name) : undefined
  }

  readonly list: Service["list"] = () =>
    this.registry
      .entries()
      .flatMap(([name]) => this.named(name) ?? [])
      .sort((a, b) => (a.name < b.name ? -1 : 1))

  readonly schemas: Service["schemas"] = () => {
    const version = this.version()
    if (this.cached?.version !== version) {
      const schemas = this.list().map(({ description, name, parameters }) => ({ name, description, parameters }))
      this.cached = { version, schemas }
    }
    return this.cached.schemas
  }

  readonly restrict: Service["restrict"] = (filter) =>
    Effect.suspend(() => {
      const names = [...(filter.allow ?? []), ...(filter.deny ?? [])]
      if (filter.allow === undefined && names.length === 0) {
        return new ToolRegistrationError({
          code: "EMPTY_FILTER",
          message: "a tool filter names what it allows or denies"
        })
      }
      const unknown = names.filter((name) => Option.isNone(this.registry.get(name)))
      if (unknown.length > 0) {
        const known = this.registry.entries().map(([name]) => name)
        return new ToolRegistrationError({
          code: "UNKNOWN_TOOL",
          message: `the tool filter names ${unknown.join(", ")}, which nobody registered; known: ${known.join(", ")}`
        })
      }
      return this.hold(this.filters, filter)
    })

  readonly guard: Service["guard"] = (guard) => this.hold(this.ownGuards, guard)

  readonly guards: Service["guards"] = () => [
    ...(this.parent?.guards() ?? []),
    ...Array.from(this.ownGuards, ({ member }) => member)
  ]

  private passes(name: string): boolean {
    for (const {
      member: { allow, deny }
    } of this.filters) {
      if (allow !== undefined && !allow.includes(name)) return false
      if (deny?.includes(name) === true) return false
    }
    return true
  }

  private version(): number {
    return this.registry.version() + this.filterVersions()
  }

  private filterVersions(): number {
    return this.filterVersion + (this.parent?.filterVersions() ?? 0)
  }

  private hold<A>(held: Held<A>, member: A): Effect.Effect<void, never, Scope.Scope> {
    return Effect.suspend(() => {
      const box = { member }
      const change = (act: () => void) =>
        Effect.sync(() => {
          act()
          this.filterVersion++
        })
      return Effect.acquireRelease(
        change(() => held.add(box)),
        () => change(() => held.delete(box))
      )
    })
  }
}

/** The registry without tools. */
export const layer: Layer.Layer<Tools> = Layer.sync(Tools, () => new Layered(Registry.make("the tools")))

/** The tool with the services of whoever registers it, its body seeing the registries of the realm that calls it. */
const provide = <R>(tool: Tool.Tool<R>, context: Context.Context<R>): Tool.Tool => {
  const withServices = Realm.withRegistrant(context)
  return { ...tool, run: (args, call) => withServices(() => tool.run(args, call)) }
}

/** Registers a tool with the services its body needs, for as long as the current Scope is open. */
export const register = <R>(tool: Tool.Tool<R>): Effect.Effect<void, ToolRegistrationError, Tools | R | Scope.Scope> =>
  Effect.contextWithEffect((context: Context.Context<R | Tools>) =>
    Context.get(context, Tools).register(provide(tool, context))
  )

/** The same as a Layer: the tool is there for as long as the Layer lives. */
export const layerTool = <R>(tool: Tool.Tool<R>): Layer.Layer<never, ToolRegistrationError, Tools | R> =>
  Layer.scopedDiscard(register(tool))
