/**
 * A tool together with the section of the system prompt that says how to use it: neither is worth much without the other.
 */
import type { Tool } from "@dsh/tools/Tool"
import * as Tools from "@dsh/tools/Tools"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { SystemPrompt } from "./SystemPrompt.ts"
import type { PromptError, Section } from "./SystemPrompt.ts"

/** Both are there for as long as the Layer lives. */
export const layer = <R>(
  tool: Tool<R>,
  section: Section
): Layer.Layer<
  never,
  Tools.ToolRegistrationError | PromptError,
  Tools.Tools | SystemPrompt | Exclude<R, Scope.Scope>
> =>
  Layer.scopedDiscard(
    Effect.zipRight(
      Tools.register(tool),
      Effect.flatMap(SystemPrompt, (prompt) => prompt.section(section))
    )
  )
