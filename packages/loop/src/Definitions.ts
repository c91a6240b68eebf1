/**
 * Everything the loop is defined over, still empty: no model, no tool, no prompt, no storage. A composition starts here and merges
 * providers and features on top.
 */
import * as AgentHooks from "@dsh/agent/AgentHooks"
import * as ModelSelection from "@dsh/agent/ModelSelection"
import * as Llm from "@dsh/llm/Llm"
import * as Assembly from "@dsh/prompt/Assembly"
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import * as Sessions from "@dsh/session/Sessions"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import * as Tools from "@dsh/tools/Tools"
import * as Layer from "effect/Layer"

export const layer = Layer.mergeAll(
  Sessions.layer,
  Llm.layer,
  Tools.layer,
  ToolHooks.layer,
  SystemPrompt.layer,
  Assembly.AssemblePrompt.layer,
  AgentHooks.layer,
  ModelSelection.layer
)

/** The services it provides. */
export type Definitions = Layer.Layer.Success<typeof layer>
