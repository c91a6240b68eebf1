/**
 * What holds for a run in this folder, and who says so.
 */
import { AgentPresets } from "@dsh/agent/AgentPresets"
import * as AgentSettings from "@dsh/agent/AgentSettings"
import { templates } from "@dsh/bundles/Bundles"
import { CompositionError } from "@dsh/compose/CompositionError"
import type { Graph } from "@dsh/compose/Graph"
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as PermissionSettings from "@dsh/permission/PermissionSettings"
import { SandboxPolicy } from "@dsh/sandbox/SandboxPolicy"
import * as SettingsText from "@dsh/settings/SettingsText"
import type { Source } from "@dsh/settings/Credentials"
import type { Section } from "@dsh/settings/Settings"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as Address from "./Address.ts"
import * as Environment from "./Environment.ts"
import * as Failure from "./Failure.ts"
import * as Headless from "./Headless.ts"
import * as HomeFolder from "./HomeFolder.ts"
import * as Keys from "./Keys.ts"
import * as KnownSettings from "./KnownSettings.ts"
import * as Preset from "./Permissions/Preset.ts"
import * as ProductVariables from "./ProductVariables.ts"
import * as Profile from "./Profile.ts"
import * as RunSettings from "./RunSettings.ts"
import { asked, isPlain, variable } from "./SessionStore/Choice.ts"
import { read } from "./Variables.ts"

export interface Sourced {
  readonly value: string
  /** `default`, `settings`, or a variable of the environment. */
  readonly source: string
}

export interface File {
  readonly path: string
  readonly exists: boolean
}

export interface InForce {
  readonly home: File
  readonly profile: { readonly name: string; readonly bundles: ReadonlyArray<string>; readonly source: string }
  /** Files, strongest last. */
  readonly patches: ReadonlyArray<string>
  readonly model: {
    readonly provider: string
    readonly model: string
    /** Null: that of the model. */
    readonly reasoningEffort: string | null
    readonly source: string
  }
  readonly address: Sourced
  /** The kind of agent. */
  readonly preset: Sourced
  readonly permission: Sourced
  /** How the model is given its tools. */
  readonly tools: Sourced
  /** Null: the composition has none. */
  readonly sandbox: { readonly mode: string; readonly network: string } | null
  readonly sessions: { readonly store: string; readonly path: string; readonly source: string }
  readonly settings: File
  readonly credentials: File
  /** Where they are set; null: they are not. */
  readonly keys: ReadonlyArray<{ readonly name: string; readonly source: Source | null }>
  readonly proxies: ReadonlyArray<{ readonly name: string; readonly value: string }>
  /** The variables of the product that are set; the value of what may be a secret is null. */
  readonly environment: ReadonlyArray<{ readonly name: string; readonly value: string | null }>
  /** What was skipped of the user's files. */
  readonly notices: ReadonlyArray<string>
}

const fileAt = (path: string): File => ({ path, exists: existsSync(path) })

const written = <A, I>(section: Section<A, I>) =>
  KnownSettings.using((settings) => Effect.map(settings.get(section), Option.getOrUndefined))

/** What the row that provides a service is configured with. */
const configOf = (
  { nodes }: Graph,
  service: { readonly key: string }
): Readonly<Record<string, unknown>> | undefined => {
  const config = nodes.find(({ plugin, realm }) => realm.length === 0 && plugin.provides.includes(service.key))?.config
  return typeof config === "object" && config !== null ? (config as Readonly<Record<string, unknown>>) : undefined
}

const composition = (profile: string) =>
  Effect.gen(function* () {
    const { by, standing } = yield* Preset.resolve(undefined)
    const { preset } = (yield* written(PermissionSettings.section)) ?? {}
    const toolsMode = yield* Environment.toolsMode
    const { composed } = yield* Headless.prepare({
      toolsMode,
      provider: { apiKey: Redacted.make("none"), baseUrl: undefined },
      launch: { profile, patches: [] },
      permission: standing
    })
    const source = by === "environment" ? "DSH_PERMISSION_MODE" : preset === undefined ? "default" : "settings"
    const isSet = (yield* read("DSH_TOOLS_MODE")) !== undefined
    const tools = { value: toolsMode, source: isSet ? "DSH_TOOLS_MODE" : "default" }
    return { ...composed, tools, permission: { value: standing, source } }
  }).pipe(Effect.scoped)

const profileOf = (name: string) =>
  Effect.gen(function* () {
    const loaded = yield* Profile.load(name)
    const { bundles, folder } = loaded
    const isTemplate = Object.hasOwn(templates, name) && !existsSync(join(folder, "package.json"))
    return {
      profile: { name, bundles, source: isTemplate ? "default" : folder },
      patches: yield* Profile.patchFiles(loaded)
    }
  }).pipe(
    Effect.provide(NodeFileSystem.layer),
    Effect.mapError((error) =>
      error instanceof CompositionError ? Failure.configuration(error.code, error.message) : error
    )
  )

const keys = Effect.gen(function* () {
  const { credentials } = yield* Keys.load
  return yield* Effect.forEach(Keys.references, (name) =>
    Effect.map(credentials.describe(name), ({ source }) => ({ name, source: source ?? null }))
  )
}).pipe(Effect.mapError(Keys.failure))

/** Fails with exit code 3, as a run would. */
export const load = (name: string): Effect.Effect<InForce, Failure.Failure> =>
  Effect.gen(function* () {
    const home = yield* HomeFolder.home
    const { patches, profile } = yield* profileOf(name)
    const { defaultModel } = yield* RunSettings.load
    const model = yield* written(AgentSettings.defaultModel)
    const presets = yield* written(AgentSettings.presets)
    const { graph, permission, stacked, tools } = yield* composition(name)
    const address = yield* Address.ofModel
    const policy = configOf(graph, SandboxPolicy)
    const settings = yield* KnownSettings.using((_, folder) => SettingsText.place(folder))
    return {
      home: fileAt(home),
      profile,
      patches,
      model: {
        provider: defaultModel.provider,
        model: defaultModel.model,
        reasoningEffort: defaultModel.reasoningEffort ?? null,
        source: model === undefined ? "default" : "settings"
      },
      address: {
        value: address.shown,
        source: address.source === "default" ? "default" : "DEEPSEEK_BASE_URL"
      },
      preset:
        presets?.default === undefined
          ? { value: String(configOf(graph, AgentPresets)?.["standing"] ?? "none"), source: "default" }
          : { value: presets.default, source: "settings" },
      permission,
      tools,
      sandbox:
        policy === undefined
          ? null
          : { mode: String(policy["mode"] ?? "read-only"), network: String(policy["network"] ?? "on") },
      sessions: {
        store: asked(process.env),
        path: yield* isPlain(process.env) ? HomeFolder.sessions : HomeFolder.database,
        source: (process.env[variable] ?? "").trim() === "" ? "default" : variable
      },
      settings: fileAt(settings),
      credentials: fileAt(join(home, ".credentials.yaml")),
      keys: yield* keys,
      proxies: yield* HttpClientNode.proxies,
      environment: yield* ProductVariables.set,
      notices: stacked.notices
    }
  })
