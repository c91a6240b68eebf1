/**
 * What a word comes to: its quotes and escapes taken away, and what only the running shell knows marked as such.
 */
import type { SyntaxNode } from "../ShellSyntax.ts"
import type { Word } from "../ShellCommands.ts"

/** A part of a word. */
interface Piece {
  /** Undefined when only the shell knows. */
  readonly text: string | undefined
  /** It may fall apart into several arguments, or vanish. */
  readonly splits: boolean
  /** Braces and wildcards mean something in it. */
  readonly bare: boolean
}

const known = (text: string, bare: boolean): Piece => ({ text, splits: false, bare })
const unknown = (splits: boolean): Piece => ({ text: undefined, splits, bare: false })

const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\u0007",
  b: "\b",
  e: "\u001b",
  E: "\u001b",
  f: "\f",
  v: "\v"
}

/** `$'…'` */
const ansi = (inside: string): string =>
  inside.replaceAll(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c([^])|([^]))/g,
    (_, x, u, U, octal, control, other) => {
      const hex = x ?? u ?? U
      if (hex !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0x10_ff_ff))
      if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8) & 0xff)
      if (control !== undefined) return String.fromCodePoint(control.codePointAt(0)! & 0x1f)
      return escapes[other] ?? other
    }
  )

const doubleQuoted = (inside: string): string => inside.replaceAll(/\\([$`"\\])/g, "$1").replaceAll("\\\n", "")

/** Kinds of nodes that are words or parts of them. */
export const kinds = new Set([
  "word",
  "number",
  "raw_string",
  "ansi_c_string",
  "string",
  "translated_string",
  "simple_expansion",
  "expansion",
  "command_substitution",
  "process_substitution",
  "arithmetic_expansion",
  "brace_expression",
  "concatenation",
  "variable_name",
  "special_variable_name",
  "$"
])

/** @param node Of one of the `kinds`. */
export const read = (text: string, node: SyntaxNode): Word => {
  const raw = text.slice(node.start, node.end)
  const pieces = piecesOf(text, node)
  const bare = pieces.map((piece) => (piece.bare ? piece.text : "\0")).join("")
  const written = pieces.flatMap((piece) => (piece.bare && piece.text !== undefined ? piece.text : "")).join("")
  const wild = /(?:^|[^\\])(?:\\\\)*[*?[]/.test(written)
  const braced = /(?:^|[^\\])(?:\\\\)*\{/.test(bare) && /,|\.\./.test(written)
  const tilde = bare.startsWith("~")
  const isKnown = pieces.every((piece) => piece.text !== undefined)
  // Also where something is assigned, or looks as if it were.
  const literal = isKnown && !wild && !braced && !tilde && !/[=:]~/.test(bare)
  const plain = pieces.map((piece) => (piece.bare ? unescape(piece.text ?? "") : (piece.text ?? ""))).join("")
  const splits = pieces.some((piece) => piece.splits)
  return {
    raw,
    text: plain,
    literal,
    single: !splits && !wild && !braced,
    maybeOption: literal ? plain.startsWith("-") : splits || !startsSafely(pieces[0], tilde)
  }
}

/** It begins with something that is known and no dash, whatever follows. */
const startsSafely = (first: Piece | undefined, tilde: boolean): boolean => {
  const text = first?.text
  return tilde || (text !== undefined && text !== "" && !/^(?:\\?-|[*?[{])/.test(text))
}

const unescape = (text: string): string => text.replaceAll(/\\([^])/g, "$1")

const piecesOf = (text: string, node: SyntaxNode): ReadonlyArray<Piece> => {
  const raw = text.slice(node.start, node.end)
  switch (node.type) {
    case "concatenation":
      return node.children.flatMap((child) => piecesOf(text, child))
    case "raw_string":
      return [known(raw.slice(1, -1), false)]
    case "ansi_c_string":
      return [known(ansi(raw.slice(2, -1)), false)]
    case "string":
      return stringPieces(text, node)
    case "word":
    case "number":
    case "variable_name":
    case "special_variable_name":
    case "$":
      return [known(raw, true)]
    case "process_substitution":
      return [known("/dev/fd/", false), unknown(false)]
    default:
      return [unknown(true)]
  }
}

const stringPieces = (text: string, { children, end, start }: SyntaxNode): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = []
  let at = start + 1
  const literally = (to: number) => pieces.push(known(doubleQuoted(text.slice(at, to)), false))
  for (const child of children.slice(1, -1)) {
    if (child.type === "string_content" || child.type === "$") continue
    literally(child.start)
    // Even in quotes, `"$@"` is as many arguments as there are.
    pieces.push(unknown(/^\$\{?[!#]?(?:[@*]|\w+\[[@*])/.test(text.slice(child.start, child.end))))
    at = child.end
  }
  literally(end - 1)
  return pieces
}
