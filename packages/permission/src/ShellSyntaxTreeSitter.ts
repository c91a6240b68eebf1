/**
 * `ShellSyntax` by tree-sitter and its grammar of bash. Loading both takes longer than most commands do, so it is left until somebody
 * has a command to judge, and done once per process.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ShellSyntax, ShellSyntaxError } from "./ShellSyntax.ts"
import type { Parse, SyntaxNode } from "./ShellSyntax.ts"

// The part of web-tree-sitter that is used.
interface Cursor {
  readonly nodeType: string
  readonly nodeIsNamed: boolean
  readonly nodeIsMissing: boolean
  readonly startIndex: number
  readonly endIndex: number
  readonly gotoFirstChild: () => boolean
  readonly gotoNextSibling: () => boolean
  readonly gotoParent: () => boolean
  readonly delete: () => void
}

/** What is nested deeper than this is written to exhaust whoever reads it. */
const maxDepth = 200

const copy = (cursor: Cursor, depth: number): SyntaxNode => {
  const { endIndex: end, nodeIsNamed: named, nodeType: type, startIndex: start } = cursor
  const children: Array<SyntaxNode> = []
  const isTooDeep = depth > maxDepth
  const broken = type === "ERROR" || cursor.nodeIsMissing || isTooDeep
  if (!isTooDeep && cursor.gotoFirstChild()) {
    do children.push(copy(cursor, depth + 1))
    while (cursor.gotoNextSibling())
    cursor.gotoParent()
  }
  return { type, named, start, end, children, broken }
}

const load = async (): Promise<Parse> => {
  const grammar = await import("@dsh/bash-grammar")
  const parser = await grammar.load()
  return (text) => {
    const tree = parser.parse(text)
    // Nothing cancels it and it has a language, so there is a tree.
    if (tree === null) return { type: "ERROR", named: true, start: 0, end: text.length, children: [], broken: true }
    const cursor = tree.walk()
    try {
      return copy(cursor, 0)
    } finally {
      cursor.delete()
      tree.delete()
    }
  }
}

let loading: Promise<Parse> | undefined

const open = Effect.tryPromise({
  try: () => (loading ??= load()),
  catch: (cause) => {
    loading = undefined
    return new ShellSyntaxError({
      code: "SHELL_PARSER_UNAVAILABLE",
      message: "the parser of shell commands cannot be loaded; install the packages of dsh again",
      cause
    })
  }
})

export const layer: Layer.Layer<ShellSyntax> = Layer.succeed(ShellSyntax, { open })
