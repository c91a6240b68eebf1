/**
 * The composition of a run, in a home of its own: everything is real but the model, which says what a test tells it to.
 */
import { Agents } from "@dsh/agent/Agents"
import { AgentPresets } from "@dsh/agent/AgentPresets"
import * as Catalogue from "@dsh/compose/Catalogue"
import * as Compose from "@dsh/compose/Compose"
import type { Composition } from "@dsh/compose/Composition"
import type { CompositionError } from "@dsh/compose/CompositionError"
import * as Row from "@dsh/compose/Row"
import * as Plugin from "@dsh/kernel/Plugin"
import { Llm } from "@dsh/llm/Llm"
import { LlmError } from "@dsh/llm/LlmError"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import { Context, Effect } from "effect"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bundles } from "../../src/Bundles.ts"
import { catalogue } from "../../src/Catalogue.ts"
import { DeepSeekConnection } from "../../src/DeepSeekConnection.ts"

const scripted = Plugin.make({
  name: "scripted",
  provides: [LlmScripted.Script],
  requires: [Llm],
  layer: () => LlmScripted.layer([])
})

export interface Options {
  /** Plugins that presets of the test may name. */
  readonly plugins?: ReadonlyArray<Plugin.Plugin>
  /** Beside those of the bundles. */
  readonly rows?: ReadonlyArray<Row.Row>
  /** Changes the configuration of the row that records files. */
  readonly recording?: Readonly<Record<string, number>>
  /** Default: nothing is confined. */
  readonly permission?: string
}

export interface Composed {
  readonly home: string
  readonly project: string
  readonly composition: Composition["Type"]
  readonly agents: Agents["Type"]
  readonly presets: AgentPresets["Type"]
  readonly script: LlmScripted.Script["Type"]
  /** Becomes what it is with these rows beside those of the bundles. */
  readonly change: (
    rows: ReadonlyArray<Row.Row>
  ) => Effect.Effect<Effect.Effect.Success<ReturnType<Composition["Type"]["change"]>>, CompositionError>
  /** Writes a preset of the user's; more text than before, so that it has changed whatever the clock says. */
  readonly write: (id: string, rows: string, info?: string) => void
}

const noKey = Effect.fail(new LlmError({ code: "UNAUTHORIZED", message: "no key in a test" }))

export const make = ({ permission = "danger-full-access", plugins = [], recording, rows = [] }: Options = {}) =>
  Effect.gen(function* () {
    const root = yield* Effect.acquireRelease(
      Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "dsh-realms-")))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
    const [home, project] = [join(root, "home"), join(root, "project")]
    for (const folder of [home, project]) mkdirSync(folder)
    const env: Readonly<Record<string, string>> = { DSH_PERMISSION_MODE: permission }
    const given = Context.make(DeepSeekConnection, noKey)
    const means = {
      catalogue: Catalogue.including(catalogue, [scripted, ...plugins]),
      surroundings: { env: (name: string) => env[name], home, cwd: project, platform: process.platform }
    }
    const compose = (own: ReadonlyArray<Row.Row>) => {
      const test = Row.rows("test", [{ id: "scripted", name: "scripted" }, ...own])
      const limits: Row.PatchLayer = {
        source: "test limits",
        entries: [
          { kind: "change", id: "file-recording", changes: { config: { root: join(home, "rewind"), ...recording } } }
        ]
      }
      return Compose.compose({ layers: [bundles["base"]!, bundles["headless"]!, limits, test], means, given })
    }
    const composed = yield* compose(rows)
    const composition = yield* Compose.start(composed, given)
    const services = composition.context() as Context.Context<Agents | AgentPresets | LlmScripted.Script>
    return {
      home,
      project,
      composition,
      agents: Context.get(services, Agents),
      presets: Context.get(services, AgentPresets),
      script: Context.get(services, LlmScripted.Script),
      change: (own) => Effect.flatMap(compose(own), ({ graph }) => composition.change(graph)),
      write: (id, rows, info = "") => {
        const folder = join(home, ".agent-presets", id)
        mkdirSync(folder, { recursive: true })
        writeFileSync(join(folder, "agent.yml"), rows)
        writeFileSync(join(folder, "preset.yml"), info)
      }
    } satisfies Composed
  })

/** A new agent of a preset, for as long as the current Scope is open. */
export const agent = ({ agents, project }: Composed, preset: string) =>
  agents.create({ preset, cwd: project, provider: LlmScripted.provider, model: LlmScripted.model })
