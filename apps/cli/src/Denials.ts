/**
 * What was not allowed, for people who watch a run: the model is told, and may not mention it.
 */
import type { Outcome } from "@dsh/permission/Approval"
import { isRun } from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import type { CallId } from "@dsh/protocol/Ids"

export interface Denial {
  readonly callId: CallId | undefined
  readonly code: string
  readonly message: string
}

const codes: Readonly<Partial<Record<Outcome, string>>> = {
  rejected: "APPROVAL_REJECTED",
  unavailable: "APPROVAL_UNAVAILABLE"
}

/** An observer that hands each to `tell`. */
export const observer = (tell: (denial: Denial) => void): ((entry: LogEntry) => void) => {
  const asked = new Map<string, Omit<Denial, "code">>()
  return (entry) => {
    if (isRun(entry)) return
    switch (entry.type) {
      case "permission/decision": {
        const { callId, decision, reason, toolName } = entry.data
        if (decision === "deny") tell({ callId, code: "PERMISSION_DENIED", message: `${toolName}: ${reason}` })
        return
      }
      case "approval/asked": {
        const { callId, id, reason, toolName } = entry.data
        asked.set(id, { callId, message: reason === undefined ? toolName : `${toolName}: ${reason}` })
        return
      }
      case "approval/decided": {
        const code = codes[entry.data.outcome]
        const what = asked.get(entry.data.id)
        asked.delete(entry.data.id)
        if (code !== undefined && what !== undefined) tell({ ...what, code })
      }
    }
  }
}
