/**
 * What the prompt contributes to a request: the system text and the tools, assembled for one model, because a prompt may name it.
 */
import * as Assembly from "@dsh/prompt/Assembly"
import type { SystemPrompt } from "@dsh/prompt/SystemPrompt"
import type { ToolSchema } from "@dsh/protocol/Request"
import type { Tools } from "@dsh/tools/Tools"
import * as Effect from "effect/Effect"
import type { AgentState } from "./AgentState.ts"

export type PromptServices = SystemPrompt | Assembly.AssemblePrompt | Tools

export interface Route {
  readonly provider: string
  readonly model: string
}

export interface StepPrompt extends Route {
  readonly system: string
  readonly tools: ReadonlyArray<ToolSchema>
}

export interface Assembled {
  readonly prompt: StepPrompt
  readonly contexts: Assembly.Assembly["contexts"]
}

export const assemble = Effect.fnUntraced(function* ({ session }: AgentState, { model, provider }: Route) {
  const assembly = yield* Assembly.assemble({ session, provider, model })
  const system = yield* Assembly.render(assembly)
  const prompt: StepPrompt = { provider, model, system, tools: assembly.tools }
  return { prompt, contexts: assembly.contexts } satisfies Assembled
})

/** The same prompt, unless the request goes to another model than the step began with. What is new in it besides waits for the next step. */
export const fitting = (state: AgentState, prompt: StepPrompt, route: Route) =>
  prompt.provider === route.provider && prompt.model === route.model
    ? Effect.succeed(prompt)
    : Effect.map(assemble(state, route), (assembled) => assembled.prompt)
