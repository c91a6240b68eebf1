/**
 * One extension point of every mode behind one interface, so that what holds for all of them is said once.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Hook from "../src/Hook.ts"

export class Observed extends Hook.Emit<Observed, string>()("test/observed") {}
export class Around extends Hook.Waterfall<Around, string, string, string>()("test/around") {}
export class InTurn extends Hook.Serial<InTurn, string, string>()("test/in-turn") {}
export class Asked extends Hook.Bail<Asked, string, string, string>()("test/asked") {}
export class Together extends Hook.Parallel<Together, string, string>()("test/together") {}

export type Points = Observed | Around | InTurn | Asked | Together

/** The five points without handlers. */
export const points: Layer.Layer<Points> = Layer.mergeAll(
  Observed.layer,
  Around.layer,
  InTurn.layer,
  Asked.layer,
  Together.layer
)

/** A point whose handlers run `body` and then let the dispatch go on. */
export interface Mode {
  readonly name: "emit" | "waterfall" | "serial" | "bail" | "parallel"
  readonly add: <R>(
    name: string,
    body: Effect.Effect<void, never, R>,
    options?: Hook.Options
  ) => Effect.Effect<void, never, R | Scope.Scope | Points>
  /** The same handler as a Layer. */
  readonly layer: (name: string, body: Effect.Effect<void>) => Layer.Layer<never, never, Points>
  readonly dispatch: Effect.Effect<void, string, Points>
  readonly names: Effect.Effect<ReadonlyArray<string>, never, Points>
}

export const modes: ReadonlyArray<Mode> = [
  {
    name: "emit",
    add: (name, body, options) => Effect.flatMap(Observed, (point) => point.use(name, () => body, options)),
    layer: (name, body) => Observed.hook(name, () => body),
    dispatch: Effect.flatMap(Observed, (point) => point.emit("in")),
    names: Effect.map(Observed, (point) => point.names())
  },
  {
    name: "waterfall",
    add: (name, body, options) =>
      Effect.flatMap(Around, (point) => point.use(name, (input, next) => Effect.zipRight(body, next(input)), options)),
    layer: (name, body) => Around.hook(name, (input, next) => Effect.zipRight(body, next(input))),
    dispatch: Effect.flatMap(Around, (point) => point.run("in", Effect.succeed)),
    names: Effect.map(Around, (point) => point.names())
  },
  {
    name: "serial",
    add: (name, body, options) => Effect.flatMap(InTurn, (point) => point.use(name, () => body, options)),
    layer: (name, body) => InTurn.hook(name, () => body),
    dispatch: Effect.flatMap(InTurn, (point) => point.run("in")),
    names: Effect.map(InTurn, (point) => point.names())
  },
  {
    name: "bail",
    add: (name, body, options) =>
      Effect.flatMap(Asked, (point) => point.use(name, () => Effect.as(body, Option.none()), options)),
    layer: (name, body) => Asked.hook(name, () => Effect.as(body, Option.none())),
    dispatch: Effect.flatMap(Asked, (point) => point.run("in")),
    names: Effect.map(Asked, (point) => point.names())
  },
  {
    name: "parallel",
    add: (name, body, options) => Effect.flatMap(Together, (point) => point.use(name, () => body, options)),
    layer: (name, body) => Together.hook(name, () => body),
    dispatch: Effect.flatMap(Together, (point) => point.run("in")),
    names: Effect.map(Together, (point) => point.names())
  }
]

/** A plain service that registrant and caller provide differently. */
export class Who extends Context.Tag("test/Who")<Who, string>() {}

/** An array and an effect that adds a word to it. */
export const journal = () => {
  const entries: Array<string> = []
  return { entries, note: (entry: string) => Effect.sync(() => void entries.push(entry)) }
}

const throws = (what: string) => (): never => {
  throw new Error(what)
}

/** Values that break whoever looks at them carelessly. */
export const hostile: ReadonlyArray<readonly [name: string, value: unknown]> = [
  ["undefined", undefined],
  ["null", null],
  ["a bigint", 10n],
  ["a symbol", Symbol("odd")],
  ["an object without a prototype", Object.create(null)],
  ["a getter that throws", Object.defineProperty({}, "a", { enumerable: true, get: throws("getter") })],
  ["toJSON that throws", { toJSON: throws("toJSON") }],
  ["toString that throws", { toString: throws("toString") }],
  ["an error whose message throws", Object.defineProperty(new Error("x"), "message", { get: throws("message") })],
  ["an error whose message is an object", Object.assign(new Error("x"), { message: { toString: throws("message") } })],
  ["an error whose stack is a number", Object.assign(new Error("x"), { stack: 5 })],
  ["a proxy that refuses to be read", new Proxy({}, { get: throws("get"), getPrototypeOf: throws("prototype") })]
]
