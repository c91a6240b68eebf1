/**
 * Whether the kinds of agents there are can be used. None is started.
 */
import * as AgentSettings from "@dsh/agent/AgentSettings"
import { AgentPresets } from "@dsh/agent/AgentPresets"
import type { AgentPresets as Presets } from "@dsh/agent/AgentPresets"
import { Means } from "@dsh/compose/Compose"
import { Composition } from "@dsh/compose/Composition"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Prepared } from "../Headless.ts"
import * as KnownSettings from "../KnownSettings.ts"
import type { Check } from "./Finding.ts"
import * as Finding from "./Finding.ts"

/** Which services a preset would find. Those who only ask whether it fits look at nothing but their names. */
const unstarted = ({ composed: { graph }, given }: Prepared): Composition["Type"] => {
  const provided = graph.nodes.flatMap(({ plugin, realm }) => (realm.length === 0 ? plugin.provides : []))
  const keys = [...given.unsafeMap.keys(), ...provided, Composition.key, Means.key]
  return Composition.of({
    rows: () => graph.nodes,
    context: () => Context.unsafeMake(new Map(keys.map((key) => [key, undefined]))),
    change: () => Effect.dieMessage("a composition that was not started does not change")
  })
}

/** As the row of the composition has them. */
const agentPresets = (prepared: Prepared) =>
  Effect.gen(function* () {
    const { graph, means } = prepared.composed
    const node = graph.nodes.find(
      ({ plugin, realm }) => realm.length === 0 && plugin.provides.includes(AgentPresets.key)
    )
    if (node === undefined) return undefined
    const layer = node.part as Layer.Layer<Presets, unknown, Composition | Means | FileSystem.FileSystem>
    const around = Layer.mergeAll(
      Layer.sync(Composition, () => unstarted(prepared)),
      Layer.succeed(Means, means),
      NodeFileSystem.layer
    )
    return Context.get(yield* Layer.build(Layer.provide(layer, around)), AgentPresets)
  }).pipe(Effect.orDie) // the row of the product has no way to fail

/** What an agent is that names none, when the settings say so. Settings that cannot be read are told elsewhere. */
const chosen: Effect.Effect<string | undefined> = KnownSettings.using((settings) =>
  settings.get(AgentSettings.presets)
).pipe(
  Effect.map((section) => Option.getOrUndefined(section)?.default),
  Effect.orElseSucceed(() => undefined)
)

export const check: Check = ({ prepared }) =>
  Effect.gen(function* () {
    const run = yield* Effect.either(prepared)
    if (Either.isLeft(run)) {
      return Finding.warn("they were not looked at, because there is nothing they could fit into", "see configuration")
    }
    const presets = yield* agentPresets(run.right)
    if (presets === undefined) return Finding.ok("the configuration has none")
    const listed = yield* presets.list
    const standing = (yield* chosen) ?? presets.standing
    const ids = listed.map(({ id }) => (id === standing ? `${id} (used when none is named)` : id))
    const broken = listed.flatMap(({ folder, id, problem }): ReadonlyArray<Finding.Finding> => {
      if (problem === undefined) return []
      const [status, remedy] = id === standing ? (["fail", "use another"] as const) : (["warn", "remove it"] as const)
      return [{ status, message: `${id} cannot be used: ${problem}`, remedy: `correct it in ${folder}, or ${remedy}` }]
    })
    const missing = listed.some(({ id }) => id === standing)
      ? []
      : [Finding.fail(`there is no preset "${standing}"`, "correct agent-presets.default in the settings")]
    const [first, ...others] = [...missing, ...broken]
    return first === undefined ? Finding.ok(ids.join(", ")) : Finding.all([first, ...others])
  }).pipe(
    Effect.scoped,
    Effect.catchAll((error) => Effect.succeed(Finding.because("fail", error)))
  )
