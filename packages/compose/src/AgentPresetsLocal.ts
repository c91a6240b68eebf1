/**
 * `AgentPresets` from presets of the product and folders of the user. Each is started once per process, in a realm over the composition
 * that is running, when the first agent asks for it; and again for later agents when its files have changed.
 */
import { AgentError } from "@dsh/agent/AgentError"
import { AgentPresets } from "@dsh/agent/AgentPresets"
import type { PresetInfo } from "@dsh/agent/AgentPresets"
import * as Realm from "@dsh/kernel/Realm"
import * as Nearest from "@dsh/kernel/Nearest"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Compose from "./Compose.ts"
import type { CompositionError } from "./CompositionError.ts"
import * as Composing from "./CompositionError.ts"
import { Composition } from "./Composition.ts"
import type { Preset } from "./Preset.ts"
import * as PresetFolder from "./PresetFolder.ts"
import * as Row from "./Row.ts"

export interface Options {
  /** What an agent is that names none. */
  readonly standing: string
  /** Part of the product, by id. They are known without reading a file. */
  readonly shipped: Readonly<Record<string, Preset>>
  /** Where the files of those are, for people to look at and to copy. Absolute. */
  readonly shippedFolder: Effect.Effect<string>
  /** Where the user's are. Absolute; it may not exist. */
  readonly userFolder: string
}

interface Mounted {
  readonly stamp: string
  readonly realm: Context.Context<never>
}

const unavailable = (id: string, cause: CompositionError) =>
  new AgentError({ code: "PRESET_UNAVAILABLE", message: `the preset "${id}" cannot be used: ${cause.message}`, cause })

export const make = (
  options: Options
): Effect.Effect<AgentPresets["Type"], never, Composition | Compose.Means | FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function* () {
    const { shipped, shippedFolder, standing, userFolder } = options
    const means = yield* Compose.Means
    const composition = yield* Composition
    const context = yield* Effect.context<FileSystem.FileSystem>()
    const scope = yield* Effect.scope
    const mounted = new Map<string, Mounted>()
    const lock = Effect.unsafeMakeSemaphore(1)

    const users = Effect.map(PresetFolder.list(userFolder), (found) =>
      found.filter(({ id }) => !Object.hasOwn(shipped, id))
    )

    const unknown = (id: string): Effect.Effect<never, CompositionError, FileSystem.FileSystem> =>
      Effect.flatMap(users, (found) =>
        Composing.of({
          code: "UNKNOWN_PRESET",
          place: { source: userFolder },
          reason: `there is no preset "${id}"`,
          remedy: Nearest.suggest(id, [...Object.keys(shipped), ...found.map(({ id }) => id)])
        })
      )

    const find = (id: string): Effect.Effect<Preset, CompositionError, FileSystem.FileSystem> =>
      Effect.gen(function* () {
        const own = Object.hasOwn(shipped, id) ? shipped[id] : undefined
        if (own !== undefined) return own
        const found = (yield* users).find((user) => user.id === id)
        return yield* found === undefined ? unknown(id) : PresetFolder.read(found)
      })

    /** Its rows over those of the presets it extends. */
    const layersOf = (
      preset: Preset,
      seen: ReadonlyArray<string> = []
    ): Effect.Effect<ReadonlyArray<Row.PatchLayer>, CompositionError, FileSystem.FileSystem> =>
      Effect.gen(function* () {
        const source = Object.hasOwn(shipped, preset.id)
          ? `preset ${preset.id}`
          : `${userFolder}/${preset.id}/agent.yml`
        const own = Row.rows(source, preset.rows)
        if (preset.extends === undefined) return [own]
        if (seen.includes(preset.extends) || preset.extends === preset.id) {
          return yield* Composing.of({
            code: "INVALID_PRESET",
            place: { source },
            reason: `extends itself, by way of ${[...seen, preset.id].join(", ")}`,
            remedy: "take extends out of one of them"
          })
        }
        const below = yield* layersOf(yield* find(preset.extends), [...seen, preset.id])
        return [...below, own]
      })

    const compose = (id: string, realm: Context.Context<never>) =>
      Effect.gen(function* () {
        const layers = yield* layersOf(yield* find(id))
        return yield* Compose.compose({ layers, means, given: realm, isRealm: true })
      })

    const mount = (id: string, stamp: string) =>
      Effect.gen(function* () {
        const realm = Realm.fork(composition.context())
        const composed = yield* compose(id, realm)
        // A generation stays for the agents that are of it.
        const inner = yield* Compose.start(composed, realm).pipe(Scope.extend(scope))
        const entry = { stamp, realm: inner.context() }
        mounted.set(id, entry)
        return entry.realm
      })

    const stampOf = (id: string) =>
      Object.hasOwn(shipped, id) ? Effect.succeed("shipped") : PresetFolder.stamp(`${userFolder}/${id}`)

    const realm: AgentPresets["Type"]["realm"] = (id) =>
      Effect.gen(function* () {
        const stamp = yield* stampOf(id)
        const known = mounted.get(id)
        return known?.stamp === stamp ? known.realm : yield* mount(id, stamp)
      }).pipe(
        lock.withPermits(1),
        Effect.mapError((cause) => unavailable(id, cause)),
        Effect.provide(context)
      )

    const problemOf = (id: string) =>
      Effect.match(compose(id, Realm.fork(composition.context())), {
        onFailure: ({ message }) => message,
        onSuccess: () => undefined
      })

    const infoOf = (preset: Preset, trust: PresetInfo["trust"], folder: string) =>
      Effect.map(problemOf(preset.id), (problem) => ({
        order: preset.order,
        info: { id: preset.id, name: preset.name, description: preset.description, trust, folder, problem }
      }))

    const list: AgentPresets["Type"]["list"] = Effect.gen(function* () {
      const folder = yield* shippedFolder
      const system = yield* Effect.forEach(Object.values(shipped), (preset) =>
        infoOf(preset, "system", `${folder}/${preset.id}`)
      )
      const own = yield* Effect.forEach(yield* users, (found) =>
        Effect.matchEffect(PresetFolder.read(found), {
          onFailure: ({ message }) =>
            Effect.succeed({
              order: 1000,
              info: { ...found, name: found.id, description: undefined, trust: "user" as const, problem: message }
            }),
          onSuccess: (preset) => infoOf(preset, "user", found.folder)
        })
      )
      return [...system, ...own].sort((a, b) => a.order - b.order).map(({ info }) => info)
    }).pipe(Effect.provide(context))

    return AgentPresets.of({ standing, list, realm })
  })

export const layer = (
  options: Options
): Layer.Layer<AgentPresets, never, Composition | Compose.Means | FileSystem.FileSystem> =>
  Layer.scoped(AgentPresets, make(options))
