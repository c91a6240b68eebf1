/**
 * Tools for programs that the model writes, and what runs them.
 */
import * as CodeMode from "@dsh/code-mode/CodeMode"
import { CodeRuntime } from "@dsh/code-mode/CodeRuntime"
import * as CodeRuntimeQuickJs from "@dsh/code-mode/CodeRuntimeQuickJs"
import { ToolsMode, modes } from "@dsh/code-mode/ToolsMode"
import * as Plugin from "@dsh/kernel/Plugin"
import { AssemblePrompt } from "@dsh/prompt/Assembly"
import { SystemPrompt } from "@dsh/prompt/SystemPrompt"
import { EventTypes } from "@dsh/session/EventTypes"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import { Tools } from "@dsh/tools/Tools"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

const exact = { exact: true } as const
const Count = Schema.Int.pipe(Schema.positive())

const runtime = Plugin.make({
  name: "@dsh/code-mode/CodeRuntimeQuickJs",
  description: "Runs programs in QuickJS, in a thread of their own that nothing else can be reached from.",
  config: Schema.Struct({
    computeMs: Schema.optionalWith(Count, exact).annotations({
      description: "Milliseconds that a program may compute. Default 60 000."
    }),
    maxWallMs: Schema.optionalWith(Count, exact).annotations({
      description: "Milliseconds that it may take with everything it waits for. Default 600 000."
    }),
    maxOutputBytes: Schema.optionalWith(Count, exact).annotations({
      description: "Of what it prints and returns. Default 64 MiB."
    })
  }),
  provides: [CodeRuntime],
  layer: CodeRuntimeQuickJs.layer
})

const needs = [Tools, ...ToolHooks.points, SystemPrompt, AssemblePrompt, EventTypes] as const

const mode = Schema.Literal(...modes).annotations({
  description: "`native`: each tool by itself; `ptc`: only programs, which call the tools; `both`."
})

const host = Plugin.make({
  name: "@dsh/code-mode/CodeMode",
  description: "How tools are presented to the models of all agents.",
  config: Schema.Struct({
    mode,
    maxParallelSubCalls: Schema.optionalWith(Count, exact).annotations({
      description: "How many calls of one program run at once. Default 10."
    })
  }),
  provides: [ToolsMode],
  requires: needs,
  uses: [CodeRuntime],
  layer: CodeMode.layer
})

type Presented = Layer.Layer<
  never,
  unknown,
  ToolsMode | EventTypes | Layer.Layer.Context<ReturnType<typeof CodeMode.presentAs>>
>

const presentation = Plugin.make({
  name: "@dsh/code-mode/Presentation",
  description: "How tools are presented to the models of a preset.",
  config: Schema.Struct({ mode }),
  requires: [...needs, CodeRuntime],
  uses: [ToolsMode],
  layer: ({ mode }) =>
    // Where the host has a mode, this is another one for the preset; where it has none, everything is the preset's own.
    Layer.unwrapEffect(
      Effect.map(Effect.serviceOption(ToolsMode), (known): Presented =>
        Option.isSome(known) ? CodeMode.presentAs(mode) : CodeMode.layer({ mode })
      )
    )
})

export const plugins = [runtime, host, presentation]
