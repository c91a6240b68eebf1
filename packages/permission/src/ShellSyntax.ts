/**
 * The seam to a parser of shell text: a tree of plain nodes, so that what is made of it depends on no parser's own objects.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

/** A piece of the text. Leaves and what lies between them make up all of it. */
export interface SyntaxNode {
  /** A kind of the grammar (`command`, `word`), or the text itself for keywords and operators. */
  readonly type: string
  /** Whether `type` is a kind of the grammar. */
  readonly named: boolean
  /** In units of a string: `text.slice(start, end)`. */
  readonly start: number
  readonly end: number
  readonly children: ReadonlyArray<SyntaxNode>
  /** The parser had to skip or to invent something here. */
  readonly broken: boolean
}

/** Text to tree. Total: text that is no shell has broken nodes. */
export type Parse = (text: string) => SyntaxNode

export class ShellSyntaxError extends Data.TaggedError("ShellSyntaxError")<{
  readonly code: "SHELL_PARSER_UNAVAILABLE"
  readonly message: string
  readonly cause?: unknown
}> {}

export class ShellSyntax extends Context.Tag("@dsh/permission/ShellSyntax")<
  ShellSyntax,
  {
    /** The parser; it is made ready when it is first asked for. */
    readonly open: Effect.Effect<Parse, ShellSyntaxError>
  }
>() {}
