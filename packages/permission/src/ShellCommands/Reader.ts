/**
 * Walks the tree of a shell text and takes down what it would run, redirect and assign. What it does not know is a doubt, and is walked
 * through all the same: a command is found wherever it stands.
 */
import type { SyntaxNode } from "../ShellSyntax.ts"
import type { Assignment, Command, Place, Reading, Redirection, Word } from "../ShellCommands.ts"
import * as HereDocument from "./HereDocument.ts"
import * as Words from "./Words.ts"

type Found = Omit<Reading, "garbled">

export const read = (text: string, root: SyntaxNode): Found => {
  const reader = new Reader(text)
  reader.statement(root)
  const { assignments, commands, doubts, redirections } = reader
  return { assignments, commands, doubts, redirections }
}

/** They only hold statements. */
const structure = new Set([
  "program",
  "list",
  "pipeline",
  "negated_command",
  "subshell",
  "if_statement",
  "elif_clause",
  "else_clause",
  "while_statement",
  "do_group",
  "case_item"
])

const doubtful: Readonly<Record<string, string>> = {
  function_definition: "it defines a function",
  c_style_for_statement: "it calculates",
  declaration_command: "it declares variables of the shell",
  unset_command: "it unsets variables of the shell",
  ERROR: "it does not parse"
}

/** `$((…))` over numbers. With names in it, what a variable holds may be run. */
const numeric = /^\$(?:\(\([\d\s+\-*/%()<>=!&|^~?:,]*\)\)|\[[\d\s+\-*/%()<>=!&|^~?:,]*\])$/

/** `${…}` that takes the value of a variable and does no more with it than cut or replace text in it. */
const harmlessExpansion =
  /^\$\{(?:#?\w+|[@*#?$!-]|\w+(?:\[[@*\d]+\])?)(?:(?::?[-+?]|##?|%%?|\^\^?|,,?|\/[/#%]?)[^]*)?\}$/

/** `[[ $x -eq 1 ]]` calculates, and so does what asks for an element of an array. */
const calculates = /^-(?:eq|ne|lt|le|gt|ge|v|R|o|a)$/

class Reader implements Found {
  readonly commands: Array<Command> = []
  readonly redirections: Array<Redirection> = []
  readonly assignments: Array<Assignment> = []
  readonly doubts: Array<string> = []
  private readonly text: string
  private place: Place = "command"

  constructor(text: string) {
    this.text = text
  }

  statement(node: SyntaxNode): void {
    const { children, type } = node
    if (structure.has(type)) return this.parts(node)
    switch (type) {
      case "comment":
        return
      case "command":
        return this.command(children, [], [])
      case "redirected_statement":
        return this.redirected(node)
      case "compound_statement":
        if (children[0]?.type !== "{") this.doubt("it calculates")
        return this.parts(node)
      case "test_command":
        return this.test(node)
      case "variable_assignment":
        return this.assignment(node, false)
      case "variable_assignments":
        for (const child of children) this.assignment(child, false)
        return
      case "for_statement":
        return this.loop(node)
      case "case_statement":
        return this.parts(node)
      case "declaration_command":
      case "unset_command":
        this.doubt(doubtful[type]!)
        this.commands.push({ words: children.map((child) => this.plain(child)), input: [], place: this.place })
        return
      case "file_redirect":
      case "heredoc_redirect":
      case "herestring_redirect":
        this.redirection(node)
        return
      case "function_definition":
        return this.within("function", () => {
          this.doubt(doubtful[type]!)
          this.parts(node)
        })
      default:
        if (Words.kinds.has(type)) {
          this.word(node)
        } else {
          if (!["extglob_pattern", "regex"].includes(type)) this.doubt(doubtful[type] ?? `it has a ${type}`)
          this.parts(node)
        }
    }
  }

  private parts({ children }: SyntaxNode): void {
    for (const child of children) if (child.named) this.statement(child)
  }

  private doubt(doubt: string): void {
    if (!this.doubts.includes(doubt)) this.doubts.push(doubt)
  }

  private within(place: Place, visit: () => void): void {
    const outer = this.place
    this.place = place
    visit()
    this.place = outer
  }

  /** @param more Words that stand behind its redirections. */
  private command(children: ReadonlyArray<SyntaxNode>, more: ReadonlyArray<Word>, fed: ReadonlyArray<string>): void {
    const words: Array<Word> = []
    const input = [...fed]
    for (const child of children) {
      if (child.type === "variable_assignment" && words.length === 0) this.assignment(child, true)
      else if (child.type.endsWith("_redirect")) {
        const { input: text, words: others } = this.redirection(child)
        words.push(...others)
        input.push(...text)
      } else if (child.type === "command_name") words.push(...child.children.map((name) => this.word(name)))
      else words.push(this.word(child))
    }
    words.push(...more)
    const [first] = words
    if (first === undefined) return
    if (/^\w+(\[.*)?\+?=/.test(first.raw) || keywords.has(first.raw)) this.doubt(`it is not clear what ${first.raw} is`)
    this.commands.push({ words, input, place: this.place })
  }

  private redirected({ children }: SyntaxNode): void {
    const redirects = children.filter(({ type }) => type.endsWith("_redirect"))
    const found = redirects.map((child) => this.redirection(child))
    const words = found.flatMap((one) => one.words)
    const input = found.flatMap((one) => one.input)
    const [body] = children.filter((child) => !redirects.includes(child))
    if (body?.type === "command") return this.command(body.children, words, input)
    if (body !== undefined) this.statement(body)
    if (words.length > 0) {
      this.doubt("words follow a redirection")
      this.commands.push({ words, input, place: this.place })
    } else if (input.length > 0 && body !== undefined) {
      // Somebody inside reads it.
      this.commands.forEach((command, index) => {
        this.commands[index] = { ...command, input: [...command.input, ...input] }
      })
    }
  }

  /** Takes it down; the words behind its target belong to the command, and so does what it is given to read. */
  private redirection(node: SyntaxNode): {
    readonly words: ReadonlyArray<Word>
    readonly input: ReadonlyArray<string>
  } {
    if (node.type === "heredoc_redirect") return this.hereDocument(node)
    const operator = node.children.find(({ named }) => !named)?.type ?? ""
    const targets = node.children.filter(({ named, type }) => named && type !== "file_descriptor")
    const [target, ...rest] = targets.map((child) => this.word(child))
    // What is read or written is a command, and that was taken down.
    if (targets[0]?.type === "process_substitution") return { words: rest, input: [] }
    if (operator === "<<<") return { words: rest, input: target === undefined ? [] : [target.text] }
    if (operator === ">&-" || operator === "<&-")
      return { words: target === undefined ? rest : [target, ...rest], input: [] }
    if (target === undefined) this.doubt("a redirection has no target")
    else if (!(operator.endsWith("&") && target.literal && /^\d+-?$|^-$/.test(target.text))) {
      if (/^\/dev\/(?:tcp|udp)\//.test(target.text)) this.doubt("it opens a connection")
      // `>&-x` closes a file and is followed by a word.
      if (operator.endsWith("&") && /^[\d-]/.test(target.raw)) this.doubt(`it is not clear what ${target.raw} is`)
      this.redirections.push({ access: operator.includes(">") ? "write" : "read", target })
    }
    return { words: rest, input: [] }
  }

  private hereDocument(node: SyntaxNode) {
    const parts = HereDocument.partsOf(node)
    if (parts === undefined) {
      this.doubt("a here-document does not end")
      this.parts(node)
      return { words: [], input: [] }
    }
    const words: Array<Word> = []
    const input = [this.text.slice(parts.body.start, parts.body.end)]
    for (const other of parts.others) {
      if (other.type.endsWith("_redirect")) {
        const found = this.redirection(other)
        words.push(...found.words)
        input.push(...found.input)
      } else if (Words.kinds.has(other.type) && other.named) words.push(this.word(other))
      else if (other.named) this.statement(other)
    }
    for (const child of parts.body.children) if (child.type !== "heredoc_content") this.word(child)
    return { words, input }
  }

  /** `[ … ]` runs a command of that name. `[[ … ]]` is told like one. */
  private test(node: SyntaxNode): void {
    const words: Array<Word> = []
    const visit = (part: SyntaxNode): void => {
      if (part.type.endsWith("_expression")) return part.children.forEach(visit)
      const written = this.text.slice(part.start, part.end)
      if (calculates.test(written) && (words[0]?.raw === "[[" || /^-[vR]$/.test(written))) this.doubt("it calculates")
      words.push(this.plain(part))
    }
    for (const child of node.children) visit(child)
    if (words.length > 0) this.commands.push({ words, input: [], place: this.place })
  }

  /** A part of what is no command, told as if it were a word of one. */
  private plain(node: SyntaxNode): Word {
    if (Words.kinds.has(node.type)) return this.word(node)
    this.parts(node)
    const raw = this.text.slice(node.start, node.end)
    const literal = !node.named || node.type === "test_operator"
    return { raw, text: raw, literal, single: true, maybeOption: !literal || raw.startsWith("-") }
  }

  private assignment(node: SyntaxNode, exported: boolean): void {
    const [name, , ...values] = node.children
    if (node.type !== "variable_assignment" || name?.type !== "variable_name") {
      this.doubt("it assigns to something else than a variable")
      return this.parts(node)
    }
    this.assignments.push({ name: this.text.slice(name.start, name.end), exported })
    for (const value of values) this.statement(value)
  }

  private loop(node: SyntaxNode): void {
    const [keyword, name, ...rest] = node.children
    if (keyword?.type !== "for") this.doubt("it asks for a choice")
    if (name?.type === "variable_name") {
      this.assignments.push({ name: this.text.slice(name.start, name.end), exported: false })
    } else this.doubt("it is not clear what a loop assigns")
    for (const child of rest) if (child.named) this.statement(child)
  }

  private word(node: SyntaxNode): Word {
    if (!Words.kinds.has(node.type)) this.doubt(doubtful[node.type] ?? `it has a ${node.type}`)
    this.embedded(node)
    return Words.read(this.text, node)
  }

  /** What runs, or is assigned, while a word is made. */
  private embedded(node: SyntaxNode): void {
    const { children, end, start, type } = node
    const written = this.text.slice(start, end)
    switch (type) {
      case "command_substitution":
      case "process_substitution":
        return this.within("substitution", () => this.parts(node))
      case "arithmetic_expansion":
        if (numeric.test(written)) return
        this.doubt("it calculates")
        break
      case "expansion":
        if (!harmlessExpansion.test(written)) this.doubt(`it is not clear what ${written} does`)
        break
      case "translated_string":
      case "array":
        this.doubt(`it has a ${type}`)
        break
      case "string_content":
        return
    }
    for (const child of children) {
      if (Words.kinds.has(child.type) || child.type === "string_content") this.embedded(child)
      else if (child.named && !inert.has(child.type)) this.statement(child)
    }
  }
}

/** Parts of an expansion in which nothing else can be. */
const inert = new Set(["variable_name", "special_variable_name", "regex", "word"])

/** Where a program should stand these say that the parser lost its way. */
const keywords = new Set(
  "if then elif else fi for in do done while until case esac select function { } [[ ]] !".split(" ")
)
