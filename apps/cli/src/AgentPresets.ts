/**
 * The presets that the commands about them look at, and the composition they have to fit: that of `dsh run`, which is not started.
 */
import { DeepSeekConnection } from "@dsh/bundles/DeepSeekConnection"
import * as Shipped from "@dsh/bundles/Shipped"
import * as Compose from "@dsh/compose/Compose"
import { CompositionError } from "@dsh/compose/CompositionError"
import type { Host, Sources } from "@dsh/compose/Presets"
import { Credentials } from "@dsh/settings/Credentials"
import { KnownSecrets } from "@dsh/tools/Redaction"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import * as Failure from "./Failure.ts"
import * as HomeFolder from "./HomeFolder.ts"
import * as Profile from "./Profile.ts"

export const sources: Effect.Effect<Sources> = Effect.map(HomeFolder.home, (home) => ({
  shipped: Shipped.presets,
  shippedFolder: Shipped.folder,
  userFolder: join(home, ".agent-presets")
}))

/** What a preset of `dsh run` finds there. Fails when the composition itself is wrong. */
export const host: Effect.Effect<Host, CompositionError, FileSystem.FileSystem> = Effect.gen(function* () {
  const profile = yield* Profile.load("headless")
  const means = yield* Profile.means(profile)
  // What the program gives to every composition.
  const given = [Credentials, DeepSeekConnection, KnownSecrets]
  const layers = [...(yield* Profile.bundled(profile)), ...(yield* Profile.changes(profile, []))]
  const { graph } = yield* Compose.compose({ layers, means, supposed: new Set(given.map(({ key }) => key)) })
  return { means, keys: Compose.keysOf(graph, given) }
})

/** Over the files of this machine, with what is wrong as a failure of the command. */
export const local = <A, E, R>(
  effect: Effect.Effect<A, E | CompositionError, R>
): Effect.Effect<A, Exclude<E, CompositionError> | Failure.Failure, Exclude<R, FileSystem.FileSystem>> =>
  effect.pipe(
    Effect.provide(NodeFileSystem.layer),
    Effect.mapError((error) =>
      error instanceof CompositionError
        ? Failure.configuration(error.code, error.message)
        : (error as Exclude<E, CompositionError>)
    )
  )
