/**
 * What a model reads of rows, plugins and services.
 */
import type { Catalogue } from "@dsh/compose/Catalogue"
import type { Node } from "@dsh/compose/Graph"
import type { PresetLibrary } from "@dsh/compose/PresetLibrary"
import * as Presets from "@dsh/compose/Presets"
import * as Nearest from "@dsh/kernel/Nearest"
import type { Plugin } from "@dsh/kernel/Plugin"
import { ToolError } from "@dsh/tools/ToolError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"

const line = ({ plugin, realm, row }: Node): string =>
  `- ${row.id}: ${plugin.name}${realm.length === 0 ? "" : ` (in the isolated group ${realm.join("/")})`}`

/** @param own The rows of the preset of who asks. */
export const rows = (library: PresetLibrary["Type"], own: ReadonlyArray<Node>) =>
  Effect.map(Presets.list(library.sources, library.host()), (listed) =>
    [
      "Host plane, shared by all agents:",
      ...library.rows().map(line),
      "",
      "Your preset:",
      ...own.map(line),
      "",
      `Presets (those of the user are in ${library.sources.userFolder}):`,
      ...listed.map(({ info }) => {
        const { description = "", id, name, problem, trust } = info
        return `- ${id} (${trust}): ${name}. ${description}${problem === undefined ? "" : ` Cannot be used: ${problem}`}`
      })
    ].join("\n")
  )

const loaded = (catalogue: Catalogue) =>
  Effect.map(
    Effect.forEach(catalogue.names, (name) => Effect.either(catalogue.find(name))),
    (found) => found.flatMap((plugin) => (Either.isRight(plugin) ? [plugin.right] : []))
  )

export const plugins = (catalogue: Catalogue) =>
  Effect.map(loaded(catalogue), (found) =>
    found.map(({ description = "", name }) => `- ${name}: ${description}`).join("\n")
  )

const list = (title: string, keys: ReadonlyArray<string>): ReadonlyArray<string> =>
  keys.length === 0 ? [] : [`${title}: ${keys.join(", ")}`]

const options = ({ config }: Plugin) =>
  config === undefined
    ? Effect.succeed("It takes no options.")
    : Effect.map(
        Effect.promise(() => import("effect/JSONSchema")),
        (JSONSchema) => {
          const { $schema: _, ...schema } = JSONSchema.make(config)
          return `Options, as JSON Schema: ${JSON.stringify(schema)}`
        }
      )

const about = (plugin: Plugin) =>
  Effect.map(options(plugin), (takes) =>
    [
      `${plugin.name}: ${plugin.description ?? "nothing is said of it"}`,
      ...list("Provides", plugin.provides),
      ...list("Needs", plugin.requires),
      ...list("Uses where they are", plugin.uses),
      takes
    ].join("\n")
  )

/** @param running Rows whose ids count. */
export const one = (
  name: string,
  catalogue: Catalogue,
  running: ReadonlyArray<Node>
): Effect.Effect<string, ToolError> =>
  Effect.gen(function* () {
    const node = running.find(({ row }) => row.id === name)
    if (node !== undefined) {
      const config = `Row ${name}, configured with ${JSON.stringify(node.config ?? {})}`
      return `${config}\n${yield* about(node.plugin)}`
    }
    if (catalogue.names.includes(name)) {
      return yield* Effect.flatMap(Effect.mapError(catalogue.find(name), nowhere), about)
    }
    const all = yield* loaded(catalogue)
    const providing = all.filter(({ provides }) => provides.includes(name)).map((plugin) => plugin.name)
    const needing = all
      .filter(({ requires, uses }) => [...requires, ...uses].includes(name))
      .map((plugin) => plugin.name)
    if (providing.length > 0 || needing.length > 0) {
      return [`${name} is a service.`, ...list("Provided by", providing), ...list("Wanted by", needing)].join("\n")
    }
    const known = [...running.map(({ row }) => row.id), ...catalogue.names]
    return yield* nowhere({ reason: `nothing is called ${name}`, remedy: Nearest.suggest(name, known) })
  })

const nowhere = ({ reason, remedy }: { readonly reason: string; readonly remedy: string }) =>
  new ToolError({ code: "NOT_FOUND", message: `${reason}; ${remedy}` })
