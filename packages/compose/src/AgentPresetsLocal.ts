/**
 * `AgentPresets` from presets of the product and folders of the user. Each is started once per process, in a realm over the composition
 * that is running, when the first agent asks for it; and again for later agents when its files have changed.
 */
import { AgentError } from "@dsh/agent/AgentError"
import { AgentPresets } from "@dsh/agent/AgentPresets"
import * as Realm from "@dsh/kernel/Realm"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Compose from "./Compose.ts"
import type { CompositionError } from "./CompositionError.ts"
import { Composition } from "./Composition.ts"
import * as PresetFolder from "./PresetFolder.ts"
import { PresetLibrary } from "./PresetLibrary.ts"
import * as Presets from "./Presets.ts"

export interface Options extends Presets.Sources {
  /** What an agent is that names none. */
  readonly standing: string
}

interface Mounted {
  /** What it was made from, and over what. */
  readonly chain: ReadonlyArray<Presets.Written>
  readonly host: Context.Context<never>
  readonly realm: Context.Context<never>
}

const unavailable = (id: string, cause: CompositionError) =>
  new AgentError({ code: "PRESET_UNAVAILABLE", message: `the preset "${id}" cannot be used: ${cause.message}`, cause })

export const make = (
  options: Options
): Effect.Effect<
  Context.Context<AgentPresets | PresetLibrary>,
  never,
  Composition | Compose.Means | FileSystem.FileSystem | Scope.Scope
> =>
  Effect.gen(function* () {
    const { standing } = options
    const means = yield* Compose.Means
    const composition = yield* Composition
    const context = yield* Effect.context<FileSystem.FileSystem>()
    const scope = yield* Effect.scope
    const mounted = new Map<string, Mounted>()
    const lock = Effect.unsafeMakeSemaphore(1)

    const host = (): Presets.Host => ({ means, keys: new Set(composition.context().unsafeMap.keys()) })

    const mount = (id: string) =>
      Effect.gen(function* () {
        const chain = yield* Presets.chain(options, yield* Presets.find(options, id))
        const composed = yield* Presets.compose(chain, host())
        // A generation stays for the agents that are of it.
        const outside = composition.context()
        const inner = yield* Compose.start(composed, Realm.fork(outside)).pipe(Scope.extend(scope))
        const entry = { chain, host: outside, realm: inner.context() }
        mounted.set(id, entry)
        return entry.realm
      })

    const isUnchanged = ({ folder, stamp }: Presets.Written) =>
      folder === undefined
        ? Effect.succeed(true)
        : Effect.map(PresetFolder.stamp(folder), (current) => current === stamp)

    /** A service it stands on may have been started again since. */
    const isCurrent = ({ chain, host }: Mounted) => {
      const now = composition.context().unsafeMap
      for (const [key, service] of host.unsafeMap) if (now.get(key) !== service) return Effect.succeed(false)
      return Effect.every(chain, isUnchanged)
    }

    const realm: AgentPresets["Type"]["realm"] = (id) =>
      Effect.gen(function* () {
        const known = mounted.get(id)
        return known !== undefined && (yield* isCurrent(known)) ? known.realm : yield* mount(id)
      }).pipe(
        lock.withPermits(1),
        Effect.mapError((cause) => unavailable(id, cause)),
        Effect.provide(context)
      )

    const list: AgentPresets["Type"]["list"] = Effect.suspend(() => Presets.list(options, host())).pipe(
      Effect.map((listed) => listed.map(({ info }) => info)),
      Effect.provide(context)
    )

    return Context.make(AgentPresets, AgentPresets.of({ standing, list, realm })).pipe(
      Context.add(PresetLibrary, { sources: options, host, rows: composition.rows })
    )
  })

export const layer = (
  options: Options
): Layer.Layer<AgentPresets | PresetLibrary, never, Composition | Compose.Means | FileSystem.FileSystem> =>
  Layer.scopedContext(make(options))
