import * as Plugin from "@dsh/kernel/Plugin"
import { unknown } from "../src/Resolve.ts"
import type { Catalogue } from "../src/Catalogue.ts"
import * as Compose from "../src/Compose.ts"
import type { Surroundings } from "../src/Dynamic.ts"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

export class Clock extends Context.Tag("test/Clock")<Clock, string>() {}
export class Lamp extends Context.Tag("test/Lamp")<Lamp, string>() {}
export class House extends Context.Tag("test/House")<House, string>() {}

/** What was opened and closed, in order. */
export const journal: Array<string> = []

const noted = (name: string) =>
  Effect.acquireRelease(
    Effect.sync(() => journal.push(`+${name}`)),
    () => Effect.sync(() => journal.push(`-${name}`))
  )

const clock = Plugin.make({
  name: "clock",
  config: Schema.Struct({
    zone: Schema.optionalWith(Schema.String, { default: () => "UTC" }),
    display: Schema.optionalWith(Schema.Struct({ digits: Schema.Int.pipe(Schema.between(4, 8)) }), { exact: true })
  }),
  provides: [Clock],
  layer: ({ zone }) => Layer.scoped(Clock, Effect.as(noted(`clock ${zone}`), zone))
})

/** The same service by somebody else. */
const sundial = Plugin.make({ name: "sundial", provides: [Clock], layer: () => Layer.succeed(Clock, "sun") })

const lamp = Plugin.make({
  name: "lamp",
  provides: [Lamp],
  requires: [Clock],
  layer: () =>
    Layer.scoped(
      Lamp,
      Effect.flatMap(Clock, (zone) => Effect.as(noted("lamp"), `lamp at ${zone}`))
    )
})

const house = Plugin.make({
  name: "house",
  provides: [House],
  requires: [Lamp],
  uses: [Clock],
  layer: () =>
    Layer.scoped(
      House,
      Effect.flatMap(Lamp, (lamp) => Effect.as(noted("house"), `house with ${lamp}`))
    )
})

class Chicken extends Context.Tag("test/Chicken")<Chicken, string>() {}
class Egg extends Context.Tag("test/Egg")<Egg, string>() {}
const chicken = Plugin.make({
  name: "chicken",
  provides: [Chicken],
  requires: [Egg],
  layer: () => Layer.effect(Chicken, Egg)
})
const egg = Plugin.make({ name: "egg", provides: [Egg], requires: [Chicken], layer: () => Layer.effect(Egg, Chicken) })

class Burnt extends Error {
  readonly code = "BURNT"
}

const toaster = Plugin.make({
  name: "toaster",
  config: Schema.Struct({ minutes: Schema.Number }),
  layer: ({ minutes }) => (minutes > 3 ? Layer.fail(new Burnt("the toast is black; take 3 minutes")) : Layer.empty)
})

const plugins = [clock, sundial, lamp, house, chicken, egg, toaster]

const catalogue: Catalogue = {
  names: plugins.map(({ name }) => name),
  find: (name) => {
    const plugin = plugins.find((plugin) => plugin.name === name)
    return plugin === undefined ? Effect.fail(unknown(name, catalogue.names)) : Effect.succeed(plugin)
  }
}

const surroundings: Surroundings = {
  env: (name) => ({ ZONE: "CET", OFF: "0", ON: "1" })[name],
  home: "/home/u/.dsh",
  cwd: "/work",
  platform: "linux"
}

export const means: Compose.Means["Type"] = { catalogue, surroundings }
