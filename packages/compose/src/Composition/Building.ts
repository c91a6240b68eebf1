/**
 * The rows of a composition while they are built and taken down.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { CompositionError, Problem } from "../CompositionError.ts"
import { CompositionError as Failed } from "../CompositionError.ts"
import * as LayerBuilder from "../LayerBuilder.ts"
import type { Graph, Node } from "../Graph.ts"

interface Built {
  readonly node: Node
  readonly scope: Scope.CloseableScope
  /** What the manifest says it provides, and nothing else. */
  readonly services: ReadonlyMap<string, unknown>
}

const isInside = (outer: ReadonlyArray<string>, inner: ReadonlyArray<string>): boolean =>
  outer.length <= inner.length && outer.every((id, i) => inner[i] === id)

export class Rows {
  /** In the order in which they were built. */
  private built: ReadonlyArray<Built> = []

  nodes(): ReadonlyArray<Node> {
    return this.built.map(({ node }) => node)
  }

  /** What can be seen from a realm: inner services hide outer ones. */
  contextOf(realm: ReadonlyArray<string>, outside: Context.Context<never>): Context.Context<never> {
    const services = new Map(outside.unsafeMap)
    for (let depth = 0; depth <= realm.length; depth++) {
      for (const each of this.built) {
        if (each.node.realm.length !== depth || !isInside(each.node.realm, realm)) continue
        for (const [key, service] of each.services) services.set(key, service)
      }
    }
    return Context.unsafeMake(services)
  }

  /** Builds the rows that are not there yet. A failure stops only the rows that need the one that failed; all failures are told. */
  build(graph: Graph, outside: Context.Context<never>): Effect.Effect<CompositionError | undefined> {
    return Effect.gen(this, function* () {
      const there = new Map(this.built.map((each) => [each.node.row.id, each]))
      const failures: Array<readonly [Problem, unknown]> = []
      const failed = new Set<string>()
      this.built = []
      for (const node of graph.nodes) {
        const { id } = node.row
        const kept = there.get(id)
        if (kept !== undefined) {
          this.built = [...this.built, kept]
          continue
        }
        if (node.after.some((before) => failed.has(before))) {
          failed.add(id)
          continue
        }
        const exit = yield* this.buildOne(node, outside)
        if (Exit.isSuccess(exit)) continue
        if (Cause.isInterruptedOnly(exit.cause)) return yield* Effect.failCause(exit.cause as Cause.Cause<never>)
        failed.add(id)
        failures.push(failureOf(node, exit.cause))
      }
      const [first, ...others] = failures
      if (first === undefined) return undefined
      return new Failed({ problems: [first[0], ...others.map(([problem]) => problem)], cause: first[1] })
    })
  }

  private buildOne(node: Node, outside: Context.Context<never>): Effect.Effect<Exit.Exit<Built, unknown>> {
    // Between what was opened and its place in the list nothing may come: it would stay open for ever.
    return Effect.uninterruptibleMask((restore) =>
      Effect.gen(this, function* () {
        const scope = yield* Scope.make()
        const context = Context.unsafeMake<unknown>(this.contextOf(node.realm, outside).unsafeMap)
        const exit = yield* Effect.exit(restore(LayerBuilder.build(node.part, scope, context)))
        if (Exit.isFailure(exit)) {
          yield* Scope.close(scope, exit)
          return Exit.failCause(exit.cause)
        }
        const services = new Map<string, unknown>()
        for (const key of node.plugin.provides) services.set(key, exit.value.unsafeMap.get(key))
        const built: Built = { node, scope, services }
        this.built = [...this.built, built]
        return Exit.succeed(built)
      })
    )
  }

  /** Takes rows down, the last one first. */
  close(ids: ReadonlySet<string>): Effect.Effect<void> {
    return Effect.suspend(() => {
      const gone = this.built.filter(({ node }) => ids.has(node.row.id)).reverse()
      this.built = this.built.filter(({ node }) => !ids.has(node.row.id))
      return Effect.forEach(gone, ({ scope }) => Scope.close(scope, Exit.void), { discard: true })
    })
  }

  readonly closeAll: Effect.Effect<void> = Effect.suspend(() =>
    this.close(new Set(this.built.map(({ node }) => node.row.id)))
  )
}

const failureOf = ({ row }: Node, cause: Cause.Cause<unknown>): readonly [Problem, unknown] => {
  const failure = Cause.squash(cause)
  const message = failure instanceof Error ? failure.message : String(failure)
  const isExpected = cause._tag === "Fail"
  return [
    {
      code: "ROW_FAILED",
      place: row.origin,
      row: row.id,
      reason: isExpected ? message : `it could not start: ${message}`,
      remedy: "nothing was started"
    },
    failure
  ]
}
