/**
 * The service that goes back to earlier turns, over the stored sessions.
 */
import type { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import * as FileChange from "@dsh/rewind/FileChange"
import { Rewind } from "@dsh/rewind/Rewind"
import * as RewindLocal from "@dsh/rewind/RewindLocal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Failure from "./Failure.ts"
import * as HomeFolder from "./HomeFolder.ts"
import * as Sessions from "./Sessions.ts"

const layer = Layer.unwrapEffect(Effect.map(HomeFolder.snapshots, (root) => RewindLocal.layer({ root }))).pipe(
  Layer.provide(Layer.provideMerge(FileChange.events, Sessions.live))
)

/** Uses it over the persistence under the home folder. */
export const withRewind = <A, E extends { readonly code: string; readonly message: string }, R>(
  use: (rewind: Rewind["Type"]) => Effect.Effect<A, E, R>
): Effect.Effect<A, Failure.Failure, Exclude<Exclude<R, Rewind>, SessionPersistence>> =>
  Sessions.withPersistence(() => Effect.provide(Effect.flatMap(Rewind, use), layer))
