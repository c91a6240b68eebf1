/**
 * Whether what was added to the profile is installed, loads, and brings no second copy of what must be there once.
 */
import type { Catalogue } from "@dsh/compose/Catalogue"
import { CompositionError } from "@dsh/compose/CompositionError"
import { packageOf } from "@dsh/compose/Extensions"
import { leaves } from "@dsh/compose/Graph"
import type { Profile as ProfileData } from "@dsh/compose/ProfileFolder"
import { stack } from "@dsh/compose/Stack"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as Profile from "../Profile.ts"
import type { Check } from "./Finding.ts"
import * as Finding from "./Finding.ts"

/** The plugins that rows name. Where the rows cannot be read, that is told with the configuration. */
const named = (profile: ProfileData) =>
  Effect.gen(function* () {
    const layers = [...(yield* Profile.bundled(profile)), ...(yield* Profile.changes(profile, []))]
    return new Set(leaves(stack(layers).rows).flatMap(({ name }) => name ?? []))
  }).pipe(Effect.orElseSucceed(() => new Set<string>()))

const load = (catalogue: Catalogue, plugin: string): Effect.Effect<ReadonlyArray<Finding.Finding>> =>
  Effect.match(catalogue.find(plugin), {
    onFailure: ({ reason, remedy }) => [Finding.fail(`${plugin} ${reason}`, remedy)],
    onSuccess: () => []
  })

/** One that no row names may be anything, but not a second copy. */
const loadUnnamed = (catalogue: Catalogue, name: string): Effect.Effect<ReadonlyArray<Finding.Finding>> =>
  Effect.match(catalogue.find(name), {
    onFailure: ({ code, reason, remedy }) =>
      code === "SECOND_COPY"
        ? [Finding.fail(`${name} ${reason}`, remedy)]
        : [
            Finding.warn(
              `no row names ${name}, so nothing uses it`,
              "name it in a row of the profile's patch, or remove it"
            )
          ],
    onSuccess: () => [
      Finding.warn(`no row names ${name}, so nothing uses it`, "name it in a row of the profile's patch")
    ]
  })

export const check: Check = ({ profile: name }) =>
  Effect.gen(function* () {
    const profile = yield* Profile.load(name)
    const { dependencies, folder } = profile
    if (dependencies.length === 0) return Finding.ok(`the profile ${name} has none`)
    const { catalogue } = yield* Profile.means(profile)
    const plugins = yield* named(profile)
    const findings = yield* Effect.forEach(dependencies, (dependency) => {
      if (!existsSync(join(folder, "node_modules", dependency, "package.json"))) {
        const remedy = `install it with "dsh plugin --profile ${name} install"`
        return Effect.succeed([Finding.fail(`${dependency} is not installed in ${folder}`, remedy)])
      }
      const own = [...plugins].filter((plugin) => packageOf(plugin) === dependency)
      return own.length === 0
        ? loadUnnamed(catalogue, dependency)
        : Effect.map(
            Effect.forEach(own, (plugin) => load(catalogue, plugin)),
            (loaded) => loaded.flat()
          )
    })
    const [first, ...others] = findings.flat()
    return first === undefined ? Finding.ok(dependencies.join(", ")) : Finding.all([first, ...others])
  }).pipe(
    Effect.provide(NodeFileSystem.layer),
    Effect.catchAll((error) =>
      Effect.succeed(
        error instanceof CompositionError
          ? Finding.warn("they were not looked for, because the profile cannot be read", "see configuration")
          : error
      )
    )
  )
