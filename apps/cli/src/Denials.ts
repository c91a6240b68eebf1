/**
 * What was not allowed, for people who watch a run: the model is told, and may not mention it.
 */
import type { Outcome } from "@dsh/permission/Approval"
import { isRun } from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"

interface Denial {
  readonly code: string
  readonly message: string
}

const codes: Readonly<Partial<Record<Outcome, string>>> = {
  rejected: "APPROVAL_REJECTED",
  unavailable: "APPROVAL_UNAVAILABLE"
}

/** An observer that hands each to `tell`. */
export const observer = (tell: (denial: Denial) => void): ((entry: LogEntry) => void) => {
  const asked = new Map<string, string>()
  return (entry) => {
    if (isRun(entry)) return
    switch (entry.type) {
      case "permission/decision": {
        const { decision, reason, toolName } = entry.data
        if (decision === "deny") tell({ code: "PERMISSION_DENIED", message: `${toolName}: ${reason}` })
        return
      }
      case "approval/asked": {
        const { id, reason, toolName } = entry.data
        asked.set(id, reason === undefined ? toolName : `${toolName}: ${reason}`)
        return
      }
      case "approval/decided": {
        const code = codes[entry.data.outcome]
        const message = asked.get(entry.data.id)
        asked.delete(entry.data.id)
        if (code !== undefined && message !== undefined) tell({ code, message })
      }
    }
  }
}
