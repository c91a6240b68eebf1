/**
 * How people see tool calls: small cards computed from arguments and logged results alone, so that live view and replay agree.
 */
import type { Json } from "@dsh/kernel/Json"

export interface Location {
  readonly path: string
  readonly line?: number
}

/** `oldText` is null for a file that did not exist. */
export interface FileDiff {
  readonly path: string
  readonly oldText: string | null
  readonly newText: string
}

/** A file that a search found, or a line of it. */
export interface FoundPlace extends Location {
  readonly text?: string
}

export type CallView =
  | {
      readonly view: "generic"
      readonly title: string
      readonly kind: "read" | "edit" | "execute" | "search" | "fetch" | "other"
      readonly locations?: ReadonlyArray<Location>
    }
  | { readonly view: "terminal"; readonly title: string; readonly description?: string; readonly cwd?: string }
  | { readonly view: "diff"; readonly title: string; readonly diffs: ReadonlyArray<FileDiff> }

export type ResultView =
  | { readonly view: "generic" }
  | { readonly view: "terminal"; readonly output: string; readonly exitCode?: number; readonly signal?: string }
  | { readonly view: "diff"; readonly diffs: ReadonlyArray<FileDiff> }
  | {
      readonly view: "read"
      readonly path: string
      readonly offset: number
      readonly lines: number
      readonly totalLines: number
    }
  | {
      readonly view: "search"
      readonly found: ReadonlyArray<FoundPlace>
      /** How many there are, shown or not. */
      readonly total: number
      readonly truncated: boolean
    }

/** What was logged of a result: its text, whether it is an error, and the tool's own extra. */
export interface ShownResult {
  readonly text: string
  readonly isError: boolean
  readonly meta?: Json
}

/** Both may answer nothing: then the generic view is used. */
export interface Presentation<A> {
  readonly call?: (args: A) => CallView | undefined
  readonly result?: (result: ShownResult) => ResultView | undefined
}
