/**
 * What a chat needs of a composition beyond what a run does.
 */
import { ModelSelection } from "@dsh/agent/ModelSelection"
import { Commands } from "@dsh/commands/Commands"
import { FileReferences } from "@dsh/context/FileReferences"
import { Llm } from "@dsh/llm/Llm"
import { AnswerApproval } from "@dsh/permission/Approval"
import { Rewind } from "@dsh/rewind/Rewind"

export const runner = {
  name: "dsh chat",
  keys: [AnswerApproval, Commands, FileReferences, Llm, ModelSelection, Rewind]
} as const
