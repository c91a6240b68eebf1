/**
 * What became of files, as the log says it: the event `files/changed`. Models do not see it.
 */
import * as EventTypes from "@dsh/session/EventTypes"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

/** What is at a path. Links are not followed. */
export type FileState =
  | { readonly kind: "absent" }
  | {
      readonly kind: "file"
      /** SHA-256 of the content, as hex. */
      readonly sha256: string
      /** Bytes. */
      readonly size: number
      /** Permission bits. */
      readonly mode: number
    }
  | { readonly kind: "symlink"; readonly target: string }
  | { readonly kind: "directory"; readonly mode: number }
  /** Something was there that nobody kept, and why. */
  | { readonly kind: "unknown"; readonly reason: string }

export interface FileChange {
  /** Relative to the workspace, with `/`. */
  readonly path: string
  readonly before: FileState
  readonly after: FileState
}

/**
 * Who changed them. `tool`: logged before it happens. `command`: found afterwards, by comparing. `rewind`: logged before it happens; `turn`
 * is the one that it goes back to.
 */
export type ChangedBy =
  | { readonly kind: "tool" }
  | { readonly kind: "command" }
  | { readonly kind: "rewind"; readonly turn: number }

declare module "@dsh/protocol/SessionEvent" {
  interface SessionEvents {
    /** Belongs to the turn that it stands in, else to the last one. */
    readonly "files/changed": {
      readonly by: ChangedBy
      readonly changes: ReadonlyArray<FileChange>
      /** What could not be watched, for people. */
      readonly note?: string
    }
  }
}

const schema = () => {
  const State: Schema.Schema<FileState> = Schema.Union(
    Schema.Struct({ kind: Schema.Literal("absent") }),
    Schema.Struct({
      kind: Schema.Literal("file"),
      sha256: Schema.String,
      size: Schema.NonNegativeInt,
      mode: Schema.NonNegativeInt
    }),
    Schema.Struct({ kind: Schema.Literal("symlink"), target: Schema.String }),
    Schema.Struct({ kind: Schema.Literal("directory"), mode: Schema.NonNegativeInt }),
    Schema.Struct({ kind: Schema.Literal("unknown"), reason: Schema.String })
  )
  return Schema.Struct({
    by: Schema.Union(
      Schema.Struct({ kind: Schema.Literal("tool", "command") }),
      Schema.Struct({ kind: Schema.Literal("rewind"), turn: Schema.NonNegativeInt })
    ),
    changes: Schema.Array(Schema.Struct({ path: Schema.String, before: State, after: State })),
    note: Schema.optionalWith(Schema.String, { exact: true })
  })
}

/** The event, for whoever reads or writes it: the same Layer, so that it is built once. */
export const events: Layer.Layer<
  never,
  Layer.Layer.Error<ReturnType<typeof EventTypes.layerType>>,
  EventTypes.EventTypes
> = EventTypes.layerType("files/changed", { schema, ignorable: true })
