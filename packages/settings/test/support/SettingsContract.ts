// What every keeper of settings has to do, whatever it keeps them in.
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, Schema, Stream } from "effect"
import type { Layer, Scope } from "effect"
import { secret } from "../../src/Secret.ts"
import { Settings } from "../../src/Settings.ts"

const Colors = Schema.Struct({
  theme: Schema.optionalWith(Schema.Literal("dark", "light"), { default: () => "dark" as const }),
  sizes: Schema.optional(Schema.Array(Schema.Number)),
  font: Schema.optional(Schema.Struct({ name: Schema.optional(Schema.String), size: Schema.optional(Schema.Number) })),
  accounts: Schema.optional(
    Schema.Record({ key: Schema.String, value: Schema.Struct({ pin: secret(Schema.String) }) })
  ),
  token: Schema.optional(secret(Schema.String.pipe(Schema.minLength(8))))
})
const colors = { name: "colors", schema: Colors }

type Document = Readonly<Record<string, unknown>>

/** A keeper of this document. */
type Given = (document: Document) => Effect.Effect<Layer.Layer<Settings>, never, Scope.Scope>

const names = ["mine", "colors", "other", "fixed"]

/** The document as anybody can read it. */
const kept = Effect.gen(function* () {
  const settings = yield* Settings
  const all = yield* Effect.forEach(names, (name) =>
    Effect.map(settings.get({ name, schema: Schema.Unknown }), (value) => [name, value] as const)
  )
  return Object.fromEntries(all.flatMap(([name, value]) => (Option.isSome(value) ? [[name, value.value]] : [])))
})

export const suite = (name: string, given: Given): void => {
  const having = <A, E>(
    document: Document,
    use: (settings: Settings["Type"]) => Effect.Effect<A, E, Scope.Scope | Settings>
  ) => Effect.scoped(Effect.flatMap(given(document), (layer) => Effect.provide(Effect.flatMap(Settings, use), layer)))

  describe(`${name} keeps the contract`, () => {
    it.live("a value is the defaults, under the base, under what the user wrote", () =>
      having({ colors: { font: { size: 12 } } }, (settings) =>
        Effect.gen(function* () {
          const { current } = yield* settings.register({
            ...colors,
            base: { theme: "light", font: { name: "mono", size: 10 } }
          })
          assert.deepStrictEqual(yield* current, { theme: "light", font: { name: "mono", size: 12 } })
          const view = yield* settings.view("colors")
          assert.deepInclude(view, {
            name: "colors",
            applies: "live",
            base: { theme: "light", font: { name: "mono", size: 10 } },
            user: { font: { size: 12 } },
            value: { theme: "light", font: { name: "mono", size: 12 } }
          })
          assert.deepStrictEqual(
            yield* settings.get(colors),
            Option.some({ theme: "dark" as const, font: { size: 12 } })
          )
        })
      )
    )

    it.live("writes merge, replace and change, leave other sections alone, and give the new view", () =>
      having({ mine: { x: [1, { y: 2 }] }, colors: { theme: "light" } }, (settings) =>
        Effect.gen(function* () {
          const { current } = yield* settings.register(colors)
          const updated = yield* settings.update("colors", { font: { name: "mono" }, sizes: [1, 2] })
          assert.deepStrictEqual(updated.user, { theme: "light", font: { name: "mono" }, sizes: [1, 2] })
          const mutated = yield* settings.mutate("colors", [
            { op: "set", path: ["sizes", 1], value: 3 },
            { op: "set", path: ["font", "size"], value: 9 },
            { op: "unset", path: ["theme"] },
            { op: "unset", path: ["nothing", "there"] }
          ])
          assert.deepStrictEqual(mutated.user, { font: { name: "mono", size: 9 }, sizes: [1, 3] })
          assert.deepStrictEqual(yield* current, { theme: "dark", font: { name: "mono", size: 9 }, sizes: [1, 3] })
          const replaced = yield* settings.replace("colors", { sizes: [1, 3, 4] })
          assert.deepStrictEqual(replaced.user, { sizes: [1, 3, 4] })
          assert.deepStrictEqual(yield* kept, { mine: { x: [1, { y: 2 }] }, colors: { sizes: [1, 3, 4] } })
        })
      )
    )

    it.live("a write that was meant for another revision changes nothing", () =>
      having({ colors: { theme: "light" } }, (settings) =>
        Effect.gen(function* () {
          yield* settings.register(colors)
          const { revision } = yield* settings.view("colors")
          const second = yield* settings.update("colors", { theme: "dark" }, { expectedRevision: revision })
          assert.notStrictEqual(second.revision, revision)
          for (const write of [settings.update, settings.replace]) {
            const conflict = yield* Effect.flip(write("colors", { sizes: [1] }, { expectedRevision: revision }))
            assert.deepInclude(conflict, { code: "SETTINGS_CONFLICT", expected: revision, actual: second.revision })
          }
          assert.deepStrictEqual(yield* kept, { colors: { theme: "dark" } })
          // The same again is the same revision, whoever made it.
          assert.strictEqual((yield* settings.update("colors", { theme: "light" })).revision, revision)
        })
      )
    )

    it.live("of two who read the same revision one writes", () =>
      having({}, (settings) =>
        Effect.gen(function* () {
          yield* settings.register(colors)
          const { revision } = yield* settings.view("colors")
          const outcomes = yield* Effect.forEach(
            [1, 2, 3, 4],
            (size) => Effect.either(settings.update("colors", { sizes: [size] }, { expectedRevision: revision })),
            { concurrency: "unbounded" }
          )
          const [won, ...more] = outcomes.flatMap((outcome) => (outcome._tag === "Right" ? [outcome.right.user] : []))
          assert.lengthOf(more, 0)
          assert.deepStrictEqual(yield* kept, { colors: won })
        })
      )
    )

    it.live("what does not fit is refused with its place, and nothing is changed", () =>
      having({ colors: { theme: "light" } }, (settings) =>
        Effect.gen(function* () {
          yield* settings.register(colors)
          const misspelt = yield* Effect.flip(settings.update("colors", { font: { nme: "mono" } }))
          assert.deepInclude(misspelt, { code: "SETTINGS_INVALID", path: "colors.font.nme" })
          assert.match(misspelt.message, /did you mean "name"\?/)
          const bad = yield* Effect.flip(settings.mutate("colors", [{ op: "set", path: ["sizes", 0], value: "big" }]))
          assert.deepInclude(bad, { code: "SETTINGS_INVALID", path: "colors.sizes[0]" })
          const unknown = yield* Effect.flip(settings.update("colours", {}))
          assert.deepInclude(unknown, { code: "SETTINGS_UNKNOWN_SECTION", path: "colours" })
          assert.match(unknown.message, /known: colors/)
          assert.deepStrictEqual(yield* kept, { colors: { theme: "light" } })
        })
      )
    )

    it.live("secrets are set and used, and never shown", () =>
      having({}, (settings) =>
        Effect.gen(function* () {
          const { current } = yield* settings.register({ ...colors, base: { token: "base-token" } })
          const view = yield* settings.update("colors", { token: "hush-hush", accounts: { me: { pin: "0815" } } })
          assert.deepStrictEqual(view.secrets, [
            { path: ["accounts", "me", "pin"], set: true },
            { path: ["token"], set: true }
          ])
          const { schema: _, ...shown } = view
          assert.notMatch(JSON.stringify(shown), /hush|0815|base-token/)
          assert.strictEqual((yield* current).token, "hush-hush")
          const refused = yield* Effect.flip(settings.update("colors", { token: "short" }))
          assert.notInclude(refused.message, '"short"')
          assert.deepStrictEqual(yield* kept, { colors: { token: "hush-hush", accounts: { me: { pin: "0815" } } } })
          const [described] = yield* settings.describe
          assert.deepStrictEqual(described?.secrets, view.secrets)
        })
      )
    )

    it.live("a section belongs to one at a time, and is nobody's when its Scope is closed", () =>
      having({}, (settings) =>
        Effect.gen(function* () {
          yield* Effect.scoped(settings.register(colors))
          yield* settings.register(colors)
          const twice = yield* Effect.flip(settings.register(colors))
          assert.strictEqual(twice.code, "SETTINGS_DUPLICATE_SECTION")
        })
      )
    )

    it.live("invalid content fails whoever registers, loudly", () =>
      having({ colors: { theme: "pink" } }, (settings) =>
        Effect.gen(function* () {
          const failure = yield* Effect.flip(settings.register(colors))
          assert.deepInclude(failure, { code: "SETTINGS_INVALID", path: "colors.theme" })
        })
      )
    )

    it.live("a handle hears of changes of its section, one for restarts keeps what it began with", () =>
      having({}, (settings) =>
        Effect.gen(function* () {
          const count = Schema.Struct({ n: Schema.optional(Schema.Int) })
          const live = yield* settings.register(colors)
          const other = yield* settings.register({ name: "other", schema: count })
          const fixed = yield* settings.register({ name: "fixed", schema: count, applies: "restart" })
          const heard = yield* Effect.fork(Stream.runHead(live.changes))
          const told = yield* Effect.fork(
            Stream.runHead(
              Stream.filter(settings.updates, (update) => update._tag === "Section" && update.name === "fixed")
            )
          )
          // Until they listen there is nothing to hear.
          let n = 0
          const write = Effect.suspend(() => {
            n += 1
            return Effect.all([
              settings.update("other", { n }),
              settings.update("fixed", { n }),
              settings.update("colors", { sizes: [n] })
            ])
          })
          const isDone = Effect.zipWith(
            Fiber.poll(heard),
            Fiber.poll(told),
            (one, two) => Option.isSome(one) && Option.isSome(two)
          )
          yield* Effect.repeat(Effect.zipRight(Effect.delay(write, "1 millis"), isDone), {
            until: (done) => done
          })
          const value = Option.getOrThrow(yield* Fiber.join(heard))
          assert.strictEqual(value.theme, "dark")
          assert.lengthOf(value.sizes ?? [], 1)
          assert.deepStrictEqual(yield* fixed.current, {})
          assert.deepStrictEqual(yield* other.current, { n })
        })
      )
    )
  })
}
