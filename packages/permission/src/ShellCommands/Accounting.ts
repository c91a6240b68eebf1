/**
 * Holds a tree against the text it was made of: every character has to be part of a token that bash reads the same way, or white space
 * between two tokens. Where a parser takes for a comment, a blank or one word what bash takes for something else, this is what notices.
 */
import type { SyntaxNode } from "../ShellSyntax.ts"
import * as Expansion from "./Expansion.ts"
import * as HereDocument from "./HereDocument.ts"
import * as Words from "./Words.ts"

const blanks = /^(?:[ \t]|\\\n)*$/
const space = /^(?:[ \t\n]|\\\n)*$/
const unquoted = /^(?:[^\s\\'"`$&|;<>()]|\\[^\n])+$/

/** Named tokens without parts, and what they look like. */
const leaves: Readonly<Record<string, RegExp>> = {
  word: unquoted,
  number: /^[\w#-]+$/,
  raw_string: /^'[^']*'$/,
  ansi_c_string: /^\$'(?:[^'\\]|\\[^])*'$/,
  variable_name: /^\w+$/,
  special_variable_name: /^[?@*#$!_-]$|^\d+$/,
  file_descriptor: /^\d+$/,
  test_operator: /^-\w+$|^[=!<>]+$/,
  extglob_pattern: unquoted,
  regex: /^(?:[^\s\\'"`$&|;<>]|\\[^\n])*$/,
  comment: /^#[^\n]*$/
}

/** Keywords and operators whose meaning is known. */
const tokens = new Set(
  [
    '; ;; ;& ;;& & && | || |& ( ) { } [ ] [[ ]] (( )) ! " $ $( ` ${ $(( $[ , .. : = += == != =~ < > >> <& >& &> &>> >| <& <<< << <<-',
    "<( >( >&- <&- :- :+ :? := - + ? # ## % %% / // /# /% ^ ^^ ,, @ * ~ && || -a -o",
    "if then elif else fi for in do done while until case esac select function declare typeset export readonly local unset unsetenv"
  ].flatMap((line) => line.split(" "))
)

/** Nothing may stand between their parts. */
const tight = new Set([
  "concatenation",
  "simple_expansion",
  "expansion",
  "subscript",
  "variable_assignment",
  "brace_expression",
  "translated_string"
])

/** They end with their line. */
const onOneLine = new Set([
  "command",
  "redirected_statement",
  "file_redirect",
  "herestring_redirect",
  "declaration_command",
  "unset_command",
  "variable_assignments"
])

/** The first thing that does not add up. */
export const problem = (text: string, root: SyntaxNode): string | undefined => {
  if (!space.test(text.slice(0, root.start)) || !space.test(text.slice(root.end))) return "it does not parse to its end"
  return new Audit(text).node(root)
}

class Audit {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  node(node: SyntaxNode): string | undefined {
    if (node.broken) return `it does not parse at ${this.excerpt(node.start)}`
    // What calculates is judged as a whole by who reads it.
    if (node.type === "arithmetic_expansion") return undefined
    if (node.type === "string") return this.quoted(node)
    if (node.type === "heredoc_redirect" && !this.redirects(node.children[0], node.start)) {
      return `it is not clear what ${this.excerpt(node.start)} redirects`
    }
    if (node.type === "heredoc_redirect") return HereDocument.problem(this.text, node, (part) => this.node(part))
    if (node.children.length === 0) return this.leaf(node)
    return this.backquoted(node) ?? this.parts(node)
  }

  private parts({ children, end, start, type }: SyntaxNode): string | undefined {
    if (type === "variable_assignment" && !/[A-Za-z_]/.test(this.text[start]!)) {
      return `${this.excerpt(start)} is no variable`
    }
    if (type.endsWith("_redirect") && !this.redirects(children[0], start)) {
      return `it is not clear what ${this.excerpt(start)} redirects`
    }
    // `[` is a command; `[[` is none, and may go on in another line.
    const isLine = onOneLine.has(type) || (type === "test_command" && children[0]?.type === "[")
    const between = tight.has(type) ? /^$/ : isLine ? blanks : space
    let at = start
    for (const [index, child] of children.entries()) {
      const gap = this.text.slice(at, child.start)
      const isJoined = !tight.has(type) && !/[ \t\n]/.test(gap) && isWordy(child) && endsInWord(children[index - 1])
      const isDollar = child.type === "$" && type !== "simple_expansion"
      if (isDollar && Expansion.starts.test(this.text.slice(child.end, child.end + 1))) {
        return `it is not clear what ${this.excerpt(child.start)} means`
      }
      const isStuck = !child.named && !tight.has(type) && !this.stands(child)
      if (!between.test(gap) || isJoined || isStuck) return `it is not clear what ${this.excerpt(at)} is part of`
      const found = this.node(child)
      if (found !== undefined) return found
      at = child.end
    }
    return between.test(this.text.slice(at, end)) ? undefined : `it is not clear what ${this.excerpt(at)} is part of`
  }

  private leaf(node: SyntaxNode): string | undefined {
    const { end, named, start, type } = node
    const written = this.text.slice(start, end)
    const unclear = `it is not clear what ${this.excerpt(start)} means`
    if (!named) return tokens.has(type) && written === type ? undefined : unclear
    if (written === "") return type === "program" ? undefined : unclear
    if (leaves[type]?.test(written) !== true) return unclear
    if (type === "comment") return this.endsLine(end) && this.beginsWord(start) ? undefined : unclear
    return written.startsWith("#") && this.beginsWord(start) ? unclear : undefined
  }

  /** Text in double quotes, and what is expanded in it. */
  private quoted({ children, end, start }: SyntaxNode): string | undefined {
    const { text } = this
    if (children.length < 2 || text[start] !== '"' || text[end - 1] !== '"') {
      return `the quotes at ${this.excerpt(start)} do not match`
    }
    let at = start + 1
    for (const child of children.slice(1)) {
      if (child.type === "string_content") continue
      const plain = text.slice(at, child.start)
      if (Expansion.stands.test(plain) || /(?:^|[^\\])(?:\\\\)*"/.test(plain)) {
        return `it is not clear what ${this.excerpt(at)} means`
      }
      // A dollar before the closing quote is one.
      const isDollar = child.type === "$" && text.slice(child.end, child.end + 1) === '"'
      const found = isDollar ? undefined : this.node(child)
      if (found !== undefined) return found
      at = child.end
    }
    return undefined
  }

  /** Backquotes are unescaped before they are read, so what is escaped in them is read twice. */
  private backquoted({ end, start, type }: SyntaxNode): string | undefined {
    const isBackquoted = type === "command_substitution" && this.text[start] === "`"
    return isBackquoted && this.text.slice(start, end).includes("\\")
      ? `the backquotes at ${this.excerpt(start)} hold a backslash`
      : undefined
  }

  /** A number is part of a redirection exactly when it is a word of its own and touches it. */
  private redirects(first: SyntaxNode | undefined, start: number): boolean {
    const before = this.text.slice(0, start)
    return first?.type === "file_descriptor" ? /(?:^|[\s;&|()])$/.test(before) : !/(?:^|[\s;&|()<>])\d+$/.test(before)
  }

  /** A keyword is one only where it stands alone. */
  private stands({ end, start, type }: SyntaxNode): boolean {
    if (!/^(?:[a-z]+|[{}!]|\[\[?|\]\]?)$/.test(type)) return true
    if (/[}\]]/.test(type)) return /[\s;&|()]/.test(this.text.slice(start - 1, start))
    return /^(?:[\s;&|()<>]|$)/.test(this.text.slice(end, end + 1))
  }

  private endsLine(at: number): boolean {
    return at === this.text.length || this.text[at] === "\n"
  }

  private beginsWord(at: number): boolean {
    return at === 0 || /[\s;&|()]/.test(this.text[at - 1]!)
  }

  private excerpt(at: number): string {
    return JSON.stringify(this.text.slice(at, at + 20))
  }
}

const endsInWord = (node: SyntaxNode | undefined): boolean => isWordy(node) || node?.type.endsWith("_redirect") === true

/** Two of a kind without a blank between them would be one word. */
const isWordy = (node: SyntaxNode | undefined): boolean =>
  node !== undefined &&
  (Words.kinds.has(node.type) || node.type === "command_name" || node.type === "variable_assignment")
