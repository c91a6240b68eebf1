/**
 * The rule that allows one call and no other, as narrow as it can be written: what an answer that lasts is kept as.
 */
import * as CallVerdict from "./CallVerdict.ts"
import type { Call } from "./CallVerdict.ts"
import * as Rules from "./Rules.ts"

/** Words that need no quotes in a rule. */
const plain = /^[\w./:=@%^+-]+(?: [\w./:=@%^+-]+)*$/

export const of = (call: Call): string => {
  switch (CallVerdict.familyOf(call)) {
    case "shell": {
      const command = CallVerdict.text(call, "command")?.trim() ?? ""
      // What has no quotes, stars or operators reads the same as words and as text.
      return plain.test(command) && !command.startsWith("=") ? `bash(${command})` : `bash(=${command})`
    }
    case "change":
    case "read": {
      const path = CallVerdict.pathOf(call)
      const name = CallVerdict.familyOf(call) === "read" ? "read" : "edit"
      return path === undefined ? call.tool : `${name}(${Rules.escape(inside(path, call.cwd))})`
    }
    case "other": {
      const host = call.tool === "web_fetch" ? CallVerdict.hostOf(call) : undefined
      return host === undefined || host === "" ? call.tool : `${call.tool}(domain:${host})`
    }
  }
}

/** With a slash, so that it speaks of one file and not of all that have its name. */
const inside = (path: string, cwd: string): string => {
  const relative = path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path
  return relative.includes("/") ? relative : `./${relative}`
}
