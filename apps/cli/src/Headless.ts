/**
 * The composition behind `dsh run`: the profile `headless`, and over it what the command line and the environment ask for.
 */
import { PreStep } from "@dsh/agent/AgentHooks"
import { Agents } from "@dsh/agent/Agents"
import { ModelPrices } from "@dsh/agent/Budgets"
import type { Limits } from "@dsh/agent/Budgets"
import { withoutSurface } from "@dsh/bundles/Bundles"
import { DeepSeekConnection } from "@dsh/bundles/DeepSeekConnection"
import type { Mode } from "@dsh/code-mode/ToolsMode"
import * as Catalogue from "@dsh/compose/Catalogue"
import * as Compose from "@dsh/compose/Compose"
import { CompositionError } from "@dsh/compose/CompositionError"
import type { Profile as ProfileFolder } from "@dsh/compose/ProfileFolder"
import type { Entry, PatchLayer } from "@dsh/compose/Row"
import type { Key, Plugin } from "@dsh/kernel/Plugin"
import type * as LlmCassette from "@dsh/llm/LlmCassette"
import * as LlmDeepSeek from "@dsh/llm/LlmDeepSeek"
import type { PriceTable } from "@dsh/protocol/Prices"
import { PermissionPresets } from "@dsh/permission/PermissionPresets"
import type { StandardName } from "@dsh/permission/PermissionPresets"
import { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import { Sessions } from "@dsh/session/Sessions"
import { Credentials } from "@dsh/settings/Credentials"
import { Execute } from "@dsh/tools/ToolHooks"
import { Tools } from "@dsh/tools/Tools"
import { Fs } from "@dsh/world/Fs"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { resolve } from "node:path"
import type { Launch } from "./Argv.ts"
import type { Provider } from "./Environment.ts"
import * as Failure from "./Failure.ts"
import { Output } from "./Output.ts"
import * as Profile from "./Profile.ts"
import * as Secrets from "./Secrets.ts"
import { asked, variable } from "./SessionStore/Choice.ts"

export interface Options {
  readonly provider: Provider
  /** The composition it starts from. Default: the profile `headless`, as it is. */
  readonly launch?: Launch | undefined
  /** What each agent may use, together with those that work for it. */
  readonly limits?: Limits | undefined
  /** What the money among them is counted by. */
  readonly prices?: PriceTable | undefined
  /** How often a failed request is tried again; undefined: as the provider's policy has it. */
  readonly maxRetries?: number | undefined
  /** How often the same call may be made with the same result; 0: without an end. Undefined: as the guard has it. */
  readonly maxRepeats?: number | undefined
  /** How many tools run at once; undefined: as the loop has it. */
  readonly maxParallelToolCalls?: number | undefined
  /** What a session goes on with that was left before its first request. Default: none. */
  readonly defaultModel?: { readonly provider: string; readonly model: string } | undefined
  /** How tools are presented to the model. Default: natively, unless the preset says otherwise. */
  readonly toolsMode?: Mode | undefined
  /** Records what the model answers, or plays it back. */
  readonly cassette?: LlmCassette.Options | undefined
  /** What new sessions may do. Left out: what the composition says. */
  readonly permission?: StandardName | undefined
  /** Holds the rules of the log against every event and every request. */
  readonly checkInvariants?: boolean
  /** Rows and plugins of the program's own, over everything but what the command line asks for. */
  readonly own?: { readonly entries: ReadonlyArray<Entry>; readonly plugins?: ReadonlyArray<Plugin> } | undefined
  /** Leaves out what the user and the folder have set, for a run whose commands are the product's own. */
  readonly unruled?: boolean
  /** Who runs, and what it needs besides. Default: `dsh run`, and nothing. */
  readonly runner?: Runner
}

export interface Runner<Keys extends ReadonlyArray<Key> = ReadonlyArray<Key>> {
  readonly name: string
  readonly keys: Keys
}

const standing: Launch = { profile: "headless", patches: [] }
const alone: Runner = { name: "dsh run", keys: [] }

/** What a run works with. */
const needed = [Agents, Sessions, SessionPersistence, PermissionPresets, Tools, Fs, PreStep, Execute] as const

export type Services = (typeof needed)[number]["Identifier"]

const change = (id: string, changes: Extract<Entry, { kind: "change" }>["changes"]): Entry => ({
  kind: "change",
  id,
  changes
})

const on = (id: string, config?: unknown): Entry =>
  change(id, { disabled: false, ...(config !== undefined && { config }) })
const off = (id: string): Entry => change(id, { disabled: true })

/** A limit of one's own is one for calls that wait, too, unless they may be repeated more often anyway. */
const repeatGuard = (maxRepeats: number): Entry =>
  maxRepeats === 0
    ? off("repeat-guard")
    : on("repeat-guard", { limit: maxRepeats, pollingLimit: Math.max(60, maxRepeats) })

const store = Effect.suspend((): Effect.Effect<ReadonlyArray<Entry>, Failure.Failure> => {
  const choice = asked(process.env)
  if (choice === "jsonl") return Effect.succeed([])
  if (choice === "sqlite") return Effect.succeed([off("persistence"), on("persistence-sqlite")])
  return Failure.configuration("INVALID_CONFIG", `${variable} is "${choice}"; it is either jsonl or sqlite`)
})

const loop = ({ defaultModel, maxParallelToolCalls }: Options): ReadonlyArray<Entry> => {
  const config = {
    ...(maxParallelToolCalls !== undefined && { maxParallelToolCalls }),
    ...(defaultModel !== undefined && {
      defaultModel: { provider: defaultModel.provider, model: defaultModel.model }
    })
  }
  // Whoever has switched it off is not overruled.
  return Object.keys(config).length === 0 ? [] : [change("loop", { config })]
}

/** What was asked for this time, as the layer over all others. */
const asking = (options: Options): Effect.Effect<PatchLayer, Failure.Failure> =>
  Effect.map(store, (stored) => {
    const { cassette, checkInvariants = false, maxRepeats, maxRetries, limits, toolsMode } = options
    return {
      source: "the command line",
      entries: [
        ...stored,
        ...(cassette === undefined ? [] : [on("cassette", cassette)]),
        ...(checkInvariants ? [on("invariants"), on("request-invariant")] : []),
        ...loop(options),
        ...(toolsMode === undefined || toolsMode === "native"
          ? []
          : [on("code-runtime-host"), on("code-mode", { mode: toolsMode })]),
        ...(maxRepeats === undefined ? [] : [repeatGuard(maxRepeats)]),
        ...(maxRetries === undefined ? [] : [on("retry", { maxRetries })]),
        ...(limits === undefined ? [] : [on("budgets", limits)]),
        ...(options.unruled === true ? [off("rules")] : [])
      ]
    }
  })

/** What a run is made of, checked and not started, and the services it is given. */
export interface Prepared {
  readonly composed: Compose.Composed
  readonly given: Context.Context<never>
  readonly profile: ProfileFolder
  /** The same from the files as they are then. */
  readonly recompose: Effect.Effect<Compose.Composed, CompositionError, FileSystem.FileSystem>
}

/** Fails with everything that is wrong with it. */
export const prepare = (options: Options): Effect.Effect<Prepared, Failure.Failure, Scope.Scope> =>
  Effect.gen(function* () {
    const { launch = standing, own = { entries: [] }, permission, provider, runner = alone, unruled = false } = options
    const { apiKey, baseUrl, keys } = provider
    const profile = yield* Profile.load(launch.profile)
    if (withoutSurface.includes(profile.name)) {
      return yield* Failure.configuration(
        "SURFACE_NOT_INSTALLED",
        `the profile ${profile.name} is for programs to talk to, and this version has nothing that does yet; use headless`
      )
    }
    const connection =
      keys === undefined
        ? LlmDeepSeek.connection({ apiKey, ...(baseUrl !== undefined && { baseUrl }) })
        : LlmDeepSeek.connectionCredentials(keys.credentials, baseUrl)
    const secrets = yield* Layer.build(Secrets.layer(provider))
    const known = keys === undefined ? secrets : Context.add(secrets, Credentials, keys.credentials)
    const connected = Context.add(known, DeepSeekConnection, connection)
    const given = options.prices === undefined ? connected : Context.add(connected, ModelPrices, options.prices)
    const means = yield* Profile.means(profile, permission)
    const asked = yield* asking(options)
    const compose = Effect.gen(function* () {
      const changes = unruled ? [] : yield* Profile.changes(profile, launch.patches)
      const below = [...(yield* Profile.bundled(profile)), ...changes]
      return yield* Compose.compose({
        layers: [...below, { source: "the program", entries: own.entries }, asked],
        means: { ...means, catalogue: Catalogue.including(means.catalogue, own.plugins ?? []) },
        given,
        needed: { by: runner.name, keys: [...needed, ...runner.keys] }
      })
    })
    return { composed: yield* compose, given, profile, recompose: compose }
  }).pipe(Effect.provide(NodeFileSystem.layer), Effect.mapError(misconfigured))

const misconfigured = (error: CompositionError | Failure.Failure): Failure.Failure =>
  error instanceof CompositionError ? Failure.configuration(error.code, error.message) : error

/** A run's composition, for as long as the current Scope is open. What was skipped of the user's files is noted. */
const start = (options: Options) =>
  Effect.gen(function* () {
    const output = yield* Effect.serviceOption(Output)
    const { launch = standing, unruled = false } = options
    const { composed, given, profile, recompose } = yield* prepare(options)
    if (output._tag === "Some") {
      for (const notice of [...(yield* Profile.foreign(profile)), ...composed.stacked.notices])
        output.value.notice(notice)
    }
    const composition = yield* Compose.start(composed, given)
    if (profile.patchReload === "live" && !unruled) {
      const Reloading = yield* Effect.promise(() => import("@dsh/compose/Reloading"))
      yield* Reloading.watch({
        files: [...(yield* Profile.ownFiles(profile)), ...launch.patches.map((file) => resolve(file))],
        recompose: Effect.map(recompose, ({ graph }) => graph),
        composition,
        report: (what) => output._tag === "Some" && output.value.notice(Reloading.show(what))
      })
    }
    return composition.context() as Context.Context<Services>
  }).pipe(Effect.provide(NodeFileSystem.layer), Effect.mapError(misconfigured))

export const layer = (options: Options): Layer.Layer<Services, Failure.Failure> => Layer.scopedContext(start(options))

/** With what its runner needs besides, which was found to be there. */
export const layerFor = <const Keys extends ReadonlyArray<Key>>(
  runner: Runner<Keys>,
  options: Omit<Options, "runner">
): Layer.Layer<Services | Keys[number]["Identifier"], Failure.Failure> =>
  Layer.scopedContext(
    start({ ...options, runner }) as Effect.Effect<
      Context.Context<Services | Keys[number]["Identifier"]>,
      Failure.Failure,
      Scope.Scope
    >
  )
