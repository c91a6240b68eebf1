/**
 * Credentials that are given and forgotten, for tests and for programs that keep their own. Nothing is read from the environment.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Pulse from "./Pulse.ts"
import { Credentials } from "./Credentials.ts"
import * as Resolution from "./Credentials/Resolution.ts"
import { changed, empty } from "./Credentials/Store.ts"
import type { Content } from "./Credentials/Store.ts"

export interface Options {
  readonly refs?: Readonly<Record<string, string>>
  /** What counts as the environment. */
  readonly env?: Readonly<Record<string, string>>
  readonly projectEnv?: ReadonlyMap<string, string>
  readonly userEnv?: ReadonlyMap<string, string>
}

export const make = ({ env = {}, refs = {}, ...files }: Options = {}): Effect.Effect<Credentials["Type"]> =>
  Effect.gen(function* () {
    let content: Content = { ...empty, refs: new Map(Object.entries(refs)) }
    const turn = yield* Effect.makeSemaphore(1)
    return yield* Resolution.make({
      ...files,
      env: (name) => Effect.sync(() => env[name]),
      store: {
        read: Effect.sync(() => content),
        change: (make) =>
          turn.withPermits(1)(
            Effect.map(
              Effect.suspend(() => make(content)),
              ({ change, value }) => {
                if (change !== undefined) content = changed(content, change)
                return value
              }
            )
          ),
        touched: Pulse.never
      }
    })
  })

export const layer = (options?: Options): Layer.Layer<Credentials> => Layer.effect(Credentials, make(options))
