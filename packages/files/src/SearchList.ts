/**
 * What the search tools say of a list that is longer than what is shown of it: where all of it is, and what may be missing in it.
 */
import { SpillStore } from "@dsh/spill/SpillStore"
import type { ToolContext } from "@dsh/tools/Tool"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as FileTool from "./FileTool.ts"

/** How complete a list is. */
export const Completeness = {
  /** The deadline came before the end of the search. */
  isPartial: Schema.Boolean,
  /** Files and folders that could not be looked into. */
  unreadable: Schema.Number,
  /** Where the whole list is, when not all of it is shown and it could be saved. */
  saved: Schema.optionalWith(Schema.Struct({ locator: Schema.String, hint: Schema.String }), FileTool.optional)
}

interface Complete {
  readonly isPartial: boolean
  readonly unreadable: number
  readonly saved?: Saved
}

interface Saved {
  readonly locator: string
  readonly hint: string
}

/** Saves the whole list where there is a place for such things. A place that fails costs the list and not the search. */
export const save = ({ callId, session }: ToolContext, toolName: string, content: string) =>
  Effect.gen(function* () {
    const store = yield* Effect.serviceOption(SpillStore)
    if (Option.isNone(store) || session === undefined) return {}
    const owner = { sessionId: session.id }
    const source = { toolName, callId, label: "list" }
    const { hint, locator } = yield* store.value.saveText({ owner, source, suggestedName: `${toolName}.txt`, content })
    const saved: Saved = { locator, hint }
    return { saved }
  }).pipe(
    Effect.catchTag("SpillError", (error) =>
      Effect.as(Effect.logWarning(`the whole result of ${toolName} was not saved: ${error.message}`), {})
    )
  )

/** The lines after a list. */
export const notes = (shown: number, total: number, what: string, complete: Complete, narrow: string): string => {
  const lines: Array<string> = []
  if (total > shown) {
    const rest = complete.saved
    const where =
      rest === undefined ? "the whole list could not be saved" : `all of them: ${rest.locator} (${rest.hint})`
    lines.push(`(shown ${shown} of ${total} ${what}; ${where}; or ${narrow})`)
  }
  if (complete.isPartial) lines.push(`(the search took too long and was stopped: there may be more; ${narrow})`)
  if (complete.unreadable > 0) {
    const places = complete.unreadable === 1 ? "1 file or folder" : `${complete.unreadable} files or folders`
    lines.push(`(${places} could not be read)`)
  }
  return lines.length === 0 ? "" : `\n\n${lines.join("\n")}`
}
