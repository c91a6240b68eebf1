/**
 * What the system prompt says of programs, in the realms that have them.
 */
import type { Section } from "@dsh/prompt/SystemPrompt"
import type { ToolSchema } from "@dsh/protocol/Request"
import { Tools } from "@dsh/tools/Tools"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as RunCodeTool from "../RunCodeTool.ts"
import * as Sdk from "../Sdk.ts"
import { CodeModeError, ToolsMode } from "../ToolsMode.ts"
import type { Mode } from "../ToolsMode.ts"

/** Fails for a language that nobody can describe tools in. */
export const sections = (language: string): Effect.Effect<ReadonlyArray<Section>, CodeModeError> => {
  const declarations = renderers.get(language)
  if (declarations === undefined) {
    return new CodeModeError({
      code: "NO_SDK_RENDERER",
      message: `programs are in ${language} here, and tools can be described in ${[...renderers.keys()].join(", ")} only`
    })
  }
  return Effect.succeed([
    { name: "tools:code-only", order: 99, text: () => whenMode((mode) => (mode === "ptc" ? onlyPrograms : "")) },
    {
      name: "tools:sdk",
      order: 150,
      text: () => whenMode((mode, tools) => (mode === "native" ? "" : sdk(tools, declarations)))
    }
  ])
}

const renderers = new Map([["typescript", Sdk.typescript]])

const onlyPrograms = `${RunCodeTool.name} is the only tool that you can call. Wherever you are told to use another tool, call it as a function of \`tools\` in the code that you give to ${RunCodeTool.name}. Do in one program what belongs together: loops, conditions, several calls at once.`

const around = (declarations: string): string => `# Programs

The code for ${RunCodeTool.name} is the body of an async function. It can use the language itself, \`console\`, and this:

${declarations}

- A call gives the value of the tool, not the text that the tool would show. Print or return what you want to see; nothing else is shown to you.
- A call that fails or is denied rejects with ToolCallError: catch it where the program can go on without.
- Calls of tools that only read run at the same time under Promise.all; others run one after the other, in the order of the calls. Await what you start.
- Arguments and what is returned are plain JSON. There are no imports and no timers; nothing is kept from one program to the next.`

/** Sections are resolved where the prompt is assembled, so that is the realm they speak of. */
const whenMode = (text: (mode: Mode, tools: Tools["Type"]) => string): Effect.Effect<string> =>
  Effect.zipWith(Effect.serviceOption(ToolsMode), Effect.serviceOption(Tools), (mode, tools) =>
    Option.isSome(mode) && Option.isSome(tools) ? text(mode.value.current(), tools.value) : ""
  )

const told = new WeakMap<ReadonlyArray<ToolSchema>, string>()

/** Made anew only when the tools have changed. */
const sdk = (tools: Tools["Type"], declarations: typeof Sdk.typescript): string => {
  const key = tools.schemas()
  let text = told.get(key)
  if (text === undefined) {
    const described = tools.list().filter(({ name }) => name !== RunCodeTool.name)
    told.set(key, (text = around(Sdk.fenced("ts", declarations(described)))))
  }
  return text
}
