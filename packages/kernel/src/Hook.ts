/**
 * Extension points. Each is a service class; its `hook(...)` is a Layer, so behaviour is switched on by merging a Layer in and off
 * by leaving it out:
 *
 *   class PreStep extends Hook.Waterfall<PreStep, In, Out, E>()("agent/pre-step") {}
 *   const audit = PreStep.hook("audit", (input, next) => Effect.tap(next(input), log), { order: -10 })
 *
 * Five ways to dispatch: `Emit` (observers, failures contained), `Waterfall` (middleware around an operation), `Serial` (one after
 * the other, failures propagate), `Bail` (the first answer wins), `Parallel` (all at once, all awaited). A registration lives as
 * long as the Scope that made it, and in the realm that made it and those below.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { Listeners } from "./Hook/Listeners.ts"
import type { Listener, Options } from "./Hook/Listeners.ts"
import * as Realm from "./Realm.ts"
import * as Thrown from "./Thrown.ts"

export type { Options } from "./Hook/Listeners.ts"

// -----------------------------------------------------------------------------
// models
// -----------------------------------------------------------------------------

/** The rest of a waterfall: the hooks further in, then the operation itself. */
export interface Next<In, Out, E> {
  (input: In): Effect.Effect<Out, E>
}

/** What every extension point has, whatever its way to dispatch. */
interface Point<Self, Out, E, Handler> extends Realm.Forkable<Self> {
  /** Adds a handler for as long as the current Scope is open. */
  readonly use: <R>(
    name: string,
    handler: (...args: HandlerArgs<Handler>) => Effect.Effect<Out, E, R>,
    options?: Options
  ) => Effect.Effect<void, never, R | Scope.Scope>
  /** Names in dispatch order: for diagnostics and tests. */
  readonly names: () => ReadonlyArray<string>
}

type HandlerArgs<Handler> = Handler extends (...args: infer Args) => unknown ? Args : never

type Observer<In, Out, E> = (input: In) => Effect.Effect<Out, E>
type Middleware<In, Out, E> = (input: In, next: Next<In, Out, E>) => Effect.Effect<Out, E>

export interface EmitPoint<In> extends Point<EmitPoint<In>, void, unknown, Observer<In, void, unknown>> {
  /** Calls every handler in order. A handler that fails or dies is logged and does not stop the others. */
  readonly emit: (input: In) => Effect.Effect<void>
}

export interface WaterfallPoint<In, Out, E> extends Point<WaterfallPoint<In, Out, E>, Out, E, Middleware<In, Out, E>> {
  /** Runs `base` inside every handler registered at this moment. */
  readonly run: <R>(input: In, base: (input: In) => Effect.Effect<Out, E, R>) => Effect.Effect<Out, E, R>
}

export interface SerialPoint<In, E> extends Point<SerialPoint<In, E>, void, E, Observer<In, void, E>> {
  /** Runs the handlers one after the other; the first failure ends the dispatch. */
  readonly run: (input: In) => Effect.Effect<void, E>
}

export interface BailPoint<In, Out, E> extends Point<
  BailPoint<In, Out, E>,
  Option.Option<Out>,
  E,
  Observer<In, Option.Option<Out>, E>
> {
  /** Asks the handlers one after the other until one answers with `Some`. */
  readonly run: (input: In) => Effect.Effect<Option.Option<Out>, E>
}

export interface ParallelPoint<In, E> extends Point<ParallelPoint<In, E>, void, E, Observer<In, void, E>> {
  /** Runs the handlers at once, waits for all of them, then fails with the first failure in dispatch order, if any. */
  readonly run: (input: In) => Effect.Effect<void, E>
}

// -----------------------------------------------------------------------------
// extension points as services
// -----------------------------------------------------------------------------

/** Observers: every handler is called in order, results are ignored, failures are logged. */
export const Emit =
  <Self, In>() =>
  <const Id extends string>(id: Id) =>
    Service<Self, EmitPoint<In>, Observer<In, void, unknown>>(id, emitPoint)

/** Middleware: a handler gets the input and `next`; what the outermost handler returns is the result. */
export const Waterfall =
  <Self, In, Out, E = never>() =>
  <const Id extends string>(id: Id) =>
    Service<Self, WaterfallPoint<In, Out, E>, Middleware<In, Out, E>>(id, waterfallPoint)

/** One after the other, failures propagate. */
export const Serial =
  <Self, In, E = never>() =>
  <const Id extends string>(id: Id) =>
    Service<Self, SerialPoint<In, E>, Observer<In, void, E>>(id, serialPoint)

/** The first handler that answers wins. */
export const Bail =
  <Self, In, Out, E = never>() =>
  <const Id extends string>(id: Id) =>
    Service<Self, BailPoint<In, Out, E>, Observer<In, Option.Option<Out>, E>>(id, bailPoint)

/** All at once, all awaited. */
export const Parallel =
  <Self, In, E = never>() =>
  <const Id extends string>(id: Id) =>
    Service<Self, ParallelPoint<In, E>, Observer<In, void, E>>(id, parallelPoint)

const Service = <Self, P, Handler>(id: string, make: (listeners: Listeners<Handler>) => P) => {
  const Tag = Context.Tag(id)<Self, P>()
  return class extends Tag {
    /** A new one, without handlers. */
    static readonly make = (): P => make(new Listeners<Handler>(id))

    /** The extension point without handlers. */
    static readonly layer: Layer.Layer<Self> = Layer.sync(Tag, this.make)

    /** One handler as a Layer: it lives and dies with it. */
    static readonly hook = <R>(name: string, handler: WithServices<Handler, R>, options?: Options) =>
      Layer.scopedDiscard(
        Effect.flatMap(Tag, (point) => (point as { readonly use: Use<Handler> }).use<R>(name, handler, options))
      )
  }
}

interface AnyPoint {
  readonly key: string
  readonly Identifier: unknown
  readonly make: () => unknown
}

/** Extension points without handlers. */
export const context = <const Points extends ReadonlyArray<AnyPoint>>(
  ...points: Points
): Context.Context<Points[number]["Identifier"]> =>
  Context.unsafeMake(new Map(points.map((point) => [point.key, point.make()])))

/** Extension points without handlers, in one Layer: a dozen of them cost a program that starts no more than one does. */
export const layer = <const Points extends ReadonlyArray<AnyPoint>>(
  ...points: Points
): Layer.Layer<Points[number]["Identifier"]> => Layer.syncContext(() => context(...points))

type WithServices<Handler, R> = Handler extends (...args: infer Args) => Effect.Effect<infer A, infer E>
  ? (...args: Args) => Effect.Effect<A, E, R>
  : never

type Use<Handler> = <R>(
  name: string,
  handler: WithServices<Handler, R>,
  options?: Options
) => Effect.Effect<void, never, R | Scope.Scope>

// -----------------------------------------------------------------------------
// dispatch
// -----------------------------------------------------------------------------

const base = <Args extends ReadonlyArray<unknown>, A, E>(
  listeners: Listeners<(...args: Args) => Effect.Effect<A, E>>
) => ({
  use: <R>(name: string, handler: (...args: Args) => Effect.Effect<A, E, R>, options?: Options) =>
    Effect.contextWithEffect((registrant: Context.Context<R>) => {
      const provide = Realm.withRegistrant(registrant)
      return listeners.add({ name, order: options?.order ?? 0, handler: (...args) => provide(() => handler(...args)) })
    }),
  names: () => listeners.all().map((listener) => listener.name)
})

const emitPoint = <In>(listeners: Listeners<Observer<In, void, unknown>>): EmitPoint<In> => ({
  ...base(listeners),
  [Realm.Fork]: () => emitPoint(new Listeners(listeners.id, listeners)),
  emit: (input) =>
    Effect.suspend(() => {
      const all = listeners.all()
      if (all.length === 0) return Effect.void
      return Effect.forEach(
        all,
        ({ handler, name }) =>
          Effect.catchAllCause(
            Effect.suspend(() => handler(input)),
            (cause) =>
              Cause.isInterruptedOnly(cause)
                ? Effect.void
                : Effect.logWarning(`${listeners.id}: hook "${name}" failed`, Thrown.pretty(cause))
          ),
        { discard: true }
      )
    })
})

const waterfallPoint = <In, Out, E>(listeners: Listeners<Middleware<In, Out, E>>): WaterfallPoint<In, Out, E> => ({
  names: () => listeners.all().map((listener) => listener.name),
  [Realm.Fork]: () => waterfallPoint(new Listeners(listeners.id, listeners)),
  use: <R>(name: string, handler: (input: In, next: Next<In, Out, E>) => Effect.Effect<Out, E, R>, options?: Options) =>
    Effect.contextWithEffect((registrant: Context.Context<R>) => {
      const provide = Realm.withRegistrant(registrant)
      return listeners.add({
        name,
        order: options?.order ?? 0,
        handler: (input, next) => provide((restore) => handler(input, (at) => restore(Effect.suspend(() => next(at)))))
      })
    }),
  run: <R>(input: In, operation: (input: In) => Effect.Effect<Out, E, R>): Effect.Effect<Out, E, R> =>
    Effect.suspend(() => {
      const all = listeners.all()
      // Handlers run in the calling fiber and give `next` the caller's services back: erasing R is sound.
      let next = operation as Next<In, Out, E>
      for (let i = all.length - 1; i >= 0; i--) {
        const { handler } = all[i]!
        const inner = next
        next = (at) => handler(at, inner)
      }
      return next(input)
    })
})

const serialPoint = <In, E>(listeners: Listeners<Observer<In, void, E>>): SerialPoint<In, E> => ({
  ...base(listeners),
  [Realm.Fork]: () => serialPoint(new Listeners(listeners.id, listeners)),
  run: (input) =>
    Effect.suspend(() => {
      const all = listeners.all()
      if (all.length < 2) return alone(all, input)
      return Effect.forEach(all, ({ handler }) => Effect.suspend(() => handler(input)), { discard: true })
    })
})

/** What most dispatches come to: nobody listens, or one does. Worth its lines, because a step of an agent makes a dozen of them. */
const alone = <In, E>([only]: ReadonlyArray<Listener<Observer<In, void, E>>>, input: In): Effect.Effect<void, E> =>
  only === undefined ? Effect.void : only.handler(input)

const bailPoint = <In, Out, E>(listeners: Listeners<Observer<In, Option.Option<Out>, E>>): BailPoint<In, Out, E> => ({
  ...base(listeners),
  [Realm.Fork]: () => bailPoint(new Listeners(listeners.id, listeners)),
  run: Effect.fnUntraced(function* (input) {
    for (const { handler } of listeners.all()) {
      const answer = yield* handler(input)
      if (Option.isSome(answer)) return answer
    }
    return Option.none()
  })
})

const parallelPoint = <In, E>(listeners: Listeners<Observer<In, void, E>>): ParallelPoint<In, E> => ({
  ...base(listeners),
  [Realm.Fork]: () => parallelPoint(new Listeners(listeners.id, listeners)),
  run: (input) =>
    Effect.suspend(() => {
      const all = listeners.all()
      return all.length < 2 ? alone(all, input) : together(all, input)
    })
})

const together = Effect.fnUntraced(function* <In, E>(all: ReadonlyArray<Listener<Observer<In, void, E>>>, input: In) {
  const exits = yield* Effect.forEach(all, ({ handler }) => Effect.exit(Effect.suspend(() => handler(input))), {
    concurrency: "unbounded"
  })
  const failed = exits.find(Exit.isFailure)
  if (failed !== undefined) yield* failed
})
