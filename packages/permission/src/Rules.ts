/**
 * A permission rule: what it speaks of, written as people write it.
 *
 *   bash(git log *)            commands by their words; a last star stands for all further words of that command
 *   bash(npm test)             exactly this command
 *   bash(=git log > log.txt)   exactly this text
 *   edit(src/**)  read(~/.ssh/**)   files; `edit` and `write` both speak of every change of a file
 *   web_fetch(domain:*.example.com)   hosts
 *   some_tool(param:value*)    a parameter of any other tool
 *   some_tool   mcp__server__* tools as a whole
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as CommandPattern from "./Rules/CommandPattern.ts"
import * as HostPattern from "./Rules/HostPattern.ts"
import * as PathPattern from "./Rules/PathPattern.ts"
import * as Wildcard from "./Rules/Wildcard.ts"

export type Effects = "allow" | "ask" | "deny"

/** What tools do, as far as rules tell them apart. */
export type Family = "shell" | "change" | "read" | "other"

export type Subject =
  | { readonly kind: "all" }
  | { readonly kind: "command"; readonly pattern: CommandPattern.CommandPattern }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "path"; readonly glob: string }
  | { readonly kind: "host"; readonly pattern: RegExp }
  | { readonly kind: "parameter"; readonly name: string; readonly pattern: RegExp }

export interface Rule {
  /** As it was written. */
  readonly text: string
  readonly family: Family
  /** Names of tools of the family `other`. */
  readonly tools: RegExp
  readonly subject: Subject
}

const families: ReadonlyMap<string, Family> = new Map([
  ["bash", "shell"],
  ["edit", "change"],
  ["write", "change"],
  ["str_replace_editor", "change"],
  ["read", "read"],
  ["read_image", "read"]
])

/** What a tool of that name does. */
export const familyOf = (tool: string): Family => families.get(tool) ?? "other"

/** The text of a rule, or what is wrong with it. */
export const parse = (text: string): Either.Either<Rule, string> => {
  const match = /^([\w*-]+)(?:\(([^]*)\))?$/.exec(text.trim())
  if (match === null) return Either.left("is no rule; write it as bash(git log *), edit(src/**) or a_tool")
  const [, tool = "", inside] = match
  const family = familyOf(tool)
  return Either.map(subjectOf(family, tool, inside), (subject) => ({
    text: text.trim(),
    family,
    tools: Wildcard.compile(tool),
    subject
  }))
}

const subjectOf = (family: Family, tool: string, inside: string | undefined): Either.Either<Subject, string> => {
  if (inside === undefined) return Either.right({ kind: "all" })
  if (inside.trim() === "") return Either.left(`says nothing in its parentheses; write ${tool} for all of it`)
  switch (family) {
    case "shell":
      return commandOf(inside)
    case "change":
    case "read":
      return Either.right({ kind: "path", glob: inside.trim() })
    case "other":
      return parameterOf(tool, inside.trim())
  }
}

const commandOf = (inside: string): Either.Either<Subject, string> => {
  if (inside.startsWith("=")) return Either.right({ kind: "text", text: inside.slice(1).trim() })
  if (inside.trim() === "*") return Either.right({ kind: "all" })
  return Either.map(CommandPattern.parse(inside), (pattern) => ({ kind: "command", pattern }))
}

const parameterOf = (tool: string, inside: string): Either.Either<Subject, string> => {
  const [, name, value] = /^(\w+):([^]+)$/.exec(inside) ?? []
  if (name === undefined || value === undefined) {
    const example = tool === "web_fetch" ? "domain:example.com" : "param:value"
    return Either.left(`names no parameter of ${tool}; write it as ${tool}(${example})`)
  }
  if (tool === "web_fetch" && name === "domain") {
    return Either.map(HostPattern.parse(value), (pattern) => ({ kind: "host", pattern }))
  }
  return Either.right({ kind: "parameter", name, pattern: Wildcard.compile(value) })
}

/** A pattern for exactly this path. */
export const escape = PathPattern.escape

/** The text of a rule that parses. */
export const Text = Schema.String.pipe(
  Schema.filter((text) => Either.match(parse(text), { onLeft: (problem) => `${text} ${problem}`, onRight: () => true }))
)
