/**
 * The tools there are, as they tell a model of themselves: each Layer is booted, and what it registered is asked.
 */
import * as AuthoringTools from "@dsh/authoring/AuthoringTools"
import * as RunCodeTool from "@dsh/code-mode/RunCodeTool"
import * as EditTool from "@dsh/files/EditTool"
import * as GlobTool from "@dsh/files/GlobTool"
import * as GrepTool from "@dsh/files/GrepTool"
import * as ReadImageTool from "@dsh/files/ReadImageTool"
import * as ReadTool from "@dsh/files/ReadTool"
import * as StrReplaceEditorTool from "@dsh/files/StrReplaceEditorTool"
import * as WriteTool from "@dsh/files/WriteTool"
import * as BashTool from "@dsh/shell/BashTool"
import * as JobTools from "@dsh/shell/JobTools"
import * as PersistentBashTool from "@dsh/shell/PersistentBashTool"
import * as TerminalTools from "@dsh/terminal/TerminalTools"
import { SystemPrompt } from "@dsh/prompt/SystemPrompt"
import type { Tool } from "@dsh/tools/Tool"
import { Tools, layerTool } from "@dsh/tools/Tools"
import * as WebFetchTool from "@dsh/web/WebFetchTool"
import * as WebSearchTool from "@dsh/web/WebSearchTool"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { anchor, page, table } from "./Markdown.ts"
import * as Parameters from "./Parameters.ts"
import * as SchemaTable from "./SchemaTable.ts"
import { assertSame } from "./Sources.ts"
import type { Sources, ToolSource } from "./Sources.ts"
import * as World from "./World.ts"

/** Every Layer that registers tools, by its module. */
const layers: Readonly<Record<string, Layer.Layer<never, unknown, World.World>>> = {
  "@dsh/authoring/AuthoringTools": AuthoringTools.layer,
  "@dsh/code-mode/RunCodeTool": layerTool(RunCodeTool.make(10)),
  "@dsh/files/ReadTool": ReadTool.layer,
  "@dsh/files/WriteTool": WriteTool.layer,
  "@dsh/files/EditTool": EditTool.layer,
  "@dsh/files/GlobTool": GlobTool.layer,
  "@dsh/files/GrepTool": GrepTool.layer,
  "@dsh/files/ReadImageTool": ReadImageTool.layer,
  "@dsh/files/StrReplaceEditorTool": StrReplaceEditorTool.layer,
  "@dsh/shell/BashTool": BashTool.layer,
  "@dsh/shell/JobTools": JobTools.layer,
  "@dsh/shell/PersistentBashTool": PersistentBashTool.layer(),
  "@dsh/terminal/TerminalTools": TerminalTools.layer(),
  "@dsh/web/WebSearchTool": WebSearchTool.layer,
  "@dsh/web/WebFetchTool": WebFetchTool.layer
}

interface Booted {
  readonly tool: Tool
  readonly module: string
}

const registered = ([module, layer]: readonly [string, Layer.Layer<never, unknown, World.World>]) =>
  Effect.map(Effect.all([Tools, SystemPrompt]), ([tools, prompt]) => ({
    module,
    tools: tools.list(),
    sections: prompt.sections()
  })).pipe(Effect.provide(Layer.provideMerge(layer, World.layer)))

const boot = Effect.map(Effect.forEach(Object.entries(layers), registered), (all) =>
  all.flatMap(({ module, tools }) => tools.map((tool): Booted => ({ tool, module })))
)

/** `docs/catalog/tools.md`. */
export const generate = ({ tools }: Sources): Effect.Effect<string, unknown> =>
  Effect.map(boot, (booted) => {
    const key = ({ module, name }: Pick<ToolSource, "module" | "name">) => `${name} of ${module}`
    const keys = booted.map(({ module, tool }) => key({ module, name: tool.name }))
    assertSame("tools", tools.map(key), keys, "scripts/catalog/src/Tools.ts")
    const all = booted.map((each, i) => ({
      ...each,
      source: tools.find((tool) => key(tool) === keys[i])!,
      heading: headingOf(each, booted)
    }))
    return page(
      "# The tools",
      "What a model is told of each tool. `dsh run` has some of them, a composition of your own has those whose Layer it merges in: " +
        "[how they behave](../tools.md), [how to write one](../cookbook/tool.md). Limits of an argument are told in words, since not every " +
        "provider takes them in a schema; they are checked before a body runs.",
      table(
        ["tool", "Layer", "beside other calls", "deadline"],
        all.map(({ heading, module, source, tool }) => [
          `[${heading}](#${anchor(heading)})`,
          `\`${module}\``,
          source.parallel,
          tool.timeout === undefined ? "its own" : Duration.format(tool.timeout)
        ])
      ),
      ...all.flatMap(({ heading, tool }) => [
        `## ${heading}`,
        tool.description.replace(/^/gm, "> "),
        SchemaTable.render(Parameters.fields(tool.parameters), "argument") || "No arguments."
      ])
    )
  })

/** The name; with the module where two have the same. */
const headingOf = ({ module, tool }: Booted, all: ReadonlyArray<Booted>): string =>
  all.some((other) => other.module !== module && other.tool.name === tool.name)
    ? `${tool.name} of ${module.split("/").at(-1)}`
    : tool.name

// -----------------------------------------------------------------------------
// cards
// -----------------------------------------------------------------------------

/** Tools of runs that start in a hurry. */
const late = /^@dsh\/(?:files\/(?:Read|Write|Edit|Glob|Grep)Tool|shell\/(?:BashTool|JobTools)|web\/Web\w+Tool)$/

const card = ({ aliases, description, name, output, parameters, timeout }: Tool) => ({
  name,
  aliases,
  description,
  parameters,
  output: JSON.stringify(output?.() ?? {}),
  ...(timeout !== undefined && { timeout: Duration.toMillis(timeout) })
})

/** `packages/bundles/src/ToolCards.ts`. */
export const generateCards: Effect.Effect<string, unknown> = Effect.map(
  Effect.forEach(
    Object.entries(layers).filter(([module]) => late.test(module)),
    registered
  ),
  (all) =>
    [
      "/**",
      " * What a model is told of tools whose modules are loaded when they are called. Generated from the tools themselves by `pnpm catalog`.",
      " */",
      'import type { Told } from "@dsh/prompt/LateTool"',
      "",
      "/** By the module of the Layer that registers them. */",
      "export const cards = {",
      all
        .map(
          ({ module, sections, tools }) =>
            `  ${JSON.stringify(module)}: ${JSON.stringify({ tools: tools.map(card), sections })}`
        )
        .join(",\n"),
      "} satisfies Readonly<Record<string, Told>>",
      ""
    ].join("\n")
)
