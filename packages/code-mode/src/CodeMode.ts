/**
 * Tools for programs: switches a realm between tools that the model calls one by one and a single tool that runs programs over them.
 *
 *   host:    CodeMode.layer({ mode: "native" }), over a runtime
 *   preset:  CodeMode.presentAs("ptc")
 */
import { AssemblePrompt } from "@dsh/prompt/Assembly"
import type { PromptError } from "@dsh/prompt/SystemPrompt"
import { SystemPrompt } from "@dsh/prompt/SystemPrompt"
import type { DuplicateName } from "@dsh/kernel/Registry"
import type { ToolSchema } from "@dsh/protocol/Request"
import type { EventTypes } from "@dsh/session/EventTypes"
import { ToolError } from "@dsh/tools/ToolError"
import { PreExecute } from "@dsh/tools/ToolHooks"
import type { PolicyDecision, ToolExecution } from "@dsh/tools/ToolHooks"
import type { PipelineServices } from "@dsh/tools/ToolPipeline"
import * as Tools from "@dsh/tools/Tools"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { sections } from "./CodeMode/Sections.ts"
import * as CodeEvents from "./CodeEvents.ts"
import { CodeRuntime } from "./CodeRuntime.ts"
import * as RunCodeTool from "./RunCodeTool.ts"
import * as ToolsMode from "./ToolsMode.ts"
import type { Mode } from "./ToolsMode.ts"

export interface Options {
  /** Of realms that choose none. */
  readonly mode: Mode
  /** How many parallel-safe calls of one program run at once. Default 10. */
  readonly maxParallelSubCalls?: number
}

export type Failure = ToolsMode.CodeModeError | Tools.ToolRegistrationError | PromptError

type Needs = PipelineServices | SystemPrompt | AssemblePrompt

/**
 * Everything for `mode`, and what realms need to choose another. A mode with programs fails with `NO_CODE_RUNTIME` when there is no
 * `CodeRuntime` around it: provide one to this Layer, or merge it in below where realms choose.
 */
export const layer = ({
  maxParallelSubCalls = 10,
  mode
}: Options): Layer.Layer<ToolsMode.ToolsMode, Failure | DuplicateName, Needs | EventTypes> =>
  Layer.scopedDiscard(mode === "native" ? Effect.void : mount(maxParallelSubCalls)).pipe(
    Layer.merge(CodeEvents.layer),
    Layer.provideMerge(Layer.sync(ToolsMode.ToolsMode, () => ToolsMode.make(maxParallelSubCalls, () => mode)))
  )

/** The mode of the realm that it is built in, and of those below that choose none. */
export const presentAs = (mode: Mode): Layer.Layer<never, Failure, ToolsMode.ToolsMode | Needs> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const { choose, current, maxParallelSubCalls } = yield* ToolsMode.ToolsMode
      const before = current()
      if (mode !== "native" && before === "native") yield* mount(maxParallelSubCalls)
      if (mode === "native" && before !== "native") {
        yield* (yield* Tools.Tools).restrict({ deny: [RunCodeTool.name] })
      }
      yield* choose(mode)
    })
  )

// -----------------------------------------------------------------------------
// what a mode with programs consists of
// -----------------------------------------------------------------------------

const mount = (maxParallelSubCalls: number): Effect.Effect<void, Failure, ToolsMode.ToolsMode | Needs | Scope.Scope> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.serviceOption(CodeRuntime)
    if (Option.isNone(runtime)) {
      return yield* new ToolsMode.CodeModeError({
        code: "NO_CODE_RUNTIME",
        message: "tools cannot be presented to programs, for nothing here runs programs: provide a CodeRuntime"
      })
    }
    const prompt = yield* SystemPrompt
    for (const section of yield* sections(runtime.value.language)) yield* prompt.section(section)
    yield* Effect.provideService(Tools.register(RunCodeTool.make(maxParallelSubCalls)), CodeRuntime, runtime.value)
    yield* (yield* PreExecute).use("code mode", refuseOther, outermost)
    yield* (yield* AssemblePrompt).use(
      "code mode",
      (input, next) =>
        Effect.zipWith(ToolsMode.ToolsMode, next(input), ({ current }, assembly) =>
          current() === "ptc" ? { ...assembly, tools: onlyPrograms(assembly.tools) } : assembly
        ),
      outermost
    )
  })

// Around all others: no policy is asked about a tool that is not there.
const outermost = { order: -1_000_000 }

const told = new WeakMap<ReadonlyArray<ToolSchema>, ReadonlyArray<ToolSchema>>()

/** The same array for the same array. */
const onlyPrograms = (all: ReadonlyArray<ToolSchema>): ReadonlyArray<ToolSchema> => {
  let tools = told.get(all)
  if (tools === undefined) told.set(all, (tools = all.filter(({ name }) => name === RunCodeTool.name)))
  return tools
}

const refuseOther = (
  execution: ToolExecution,
  next: (execution: ToolExecution) => Effect.Effect<PolicyDecision, ToolError>
): Effect.Effect<PolicyDecision, ToolError, ToolsMode.ToolsMode | Tools.Tools> =>
  Effect.gen(function* () {
    const { current } = yield* ToolsMode.ToolsMode
    const refusal = refusalOf(execution, current(), yield* Tools.Tools)
    if (refusal !== undefined) return yield* new ToolError({ code: "UNKNOWN_TOOL", message: refusal })
    return yield* next(execution)
  })

const refusalOf = ({ name, parent }: ToolExecution, mode: Mode, tools: Tools.Tools["Type"]): string | undefined => {
  if (name === RunCodeTool.name) {
    if (mode === "native") return `there is no tool "${name}" here; call the tools themselves`
    return parent === undefined ? undefined : "a program cannot run another; call a function in it"
  }
  if (mode !== "ptc" || parent !== undefined) return undefined
  const only = `the only tool is ${RunCodeTool.name}`
  if (tools.get(name) === undefined) return `there is no tool "${name}"; ${only}, whose code can call tools.*`
  return `"${name}" cannot be called directly; ${only}: call tools[${JSON.stringify(name)}](…) in its code`
}
