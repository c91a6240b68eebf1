/**
 * What the rules say about a tool call: by its command, its file, its address or its name, whichever the tool is about.
 */
import type { Json } from "@dsh/kernel/Json"
import { Fs } from "@dsh/world/Fs"
import type { FsError } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import { resolve } from "node:path"
import * as CommandVerdict from "./CommandVerdict.ts"
import type { RuleBook } from "./PermissionRules.ts"
import * as Rules from "./Rules.ts"
import type { Family } from "./Rules.ts"
import type { Fit } from "./Rules/CommandPattern.ts"
import * as PathPattern from "./Rules/PathPattern.ts"
import type { Redirection } from "./ShellCommands.ts"
import { ShellSyntax } from "./ShellSyntax.ts"
import type { ShellSyntaxError } from "./ShellSyntax.ts"
import * as Verdict from "./Verdict.ts"
import type { Given } from "./Verdict.ts"

export interface Call {
  readonly tool: string
  readonly arguments: Json
  /** The workspace folder. */
  readonly cwd: string
}

type Judged = Effect.Effect<Verdict.Verdict, ShellSyntaxError | FsError, ShellSyntax | Fs>

/** @param book With the grants of the session among its rules. */
export const judge = (call: Call, book: RuleBook): Judged => {
  const family = familyOf(call)
  const rules = relevant(book, family, call.tool)
  switch (family) {
    case "shell":
      return shell(call, book, rules)
    case "change":
    case "read": {
      const path = pathOf(call)
      if (rules.length === 0) return Effect.succeed(Verdict.allowed)
      if (path !== undefined) return file(path, call.cwd, call, book, family)
      return Effect.succeed(
        Verdict.judge(call.tool, rules, ({ rule }) => (rule.subject.kind === "all" ? "yes" : "maybe"))
      )
    }
    case "other": {
      const closed = Verdict.isClosed(rules) || isClosedKind(call.tool, book)
      return Effect.sync(() => Verdict.judge(call.tool, rules, ({ rule }) => fits(rule, call), closed))
    }
  }
}

/** Whether any of the rules can say something about such a call. */
export const isConcerned = (call: Call, book: RuleBook): boolean => {
  const { rules } = book
  const family = familyOf(call)
  if (isClosedKind(call.tool, book)) return true
  return rules.some(({ rule }) => speaksOf(rule, family, call.tool) || (family === "shell" && rule.family !== "other"))
}

/** Whether a call of a tool that is none for commands or files passes only because no rule says anything about it. */
export const isUnmentioned = (call: Call, book: RuleBook): boolean => {
  const rules = relevant(book, familyOf(call), call.tool)
  const isAllowed = (closed: boolean) =>
    Verdict.judge(call.tool, rules, ({ rule }) => fits(rule, call), closed).kind === "allow"
  return isAllowed(Verdict.isClosed(rules)) && !isAllowed(true)
}

export const text = ({ arguments: args }: Call, name: string): string | undefined => {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return undefined
  const value = (args as Readonly<Record<string, unknown>>)[name]
  return typeof value === "string" ? value : undefined
}

/** Only the arguments that a tool has count: whatever else a call carries, the tool does not look at. */
const isEditor = ({ tool }: Call): boolean => tool === "str_replace_editor"

export const familyOf = (call: Call): Family =>
  isEditor(call) && text(call, "command") === "view" ? "read" : Rules.familyOf(call.tool)

/** The file that a tool on files is called for. */
export const pathOf = (call: Call): string | undefined => text(call, isEditor(call) ? "path" : "file_path")

const speaksOf = (rule: Rules.Rule, family: Family, tool: string): boolean =>
  rule.family === "other" ? rule.tools.test(tool) : rule.family === family

/** Tools of servers are of one kind: where some are allowed, others are not just because nobody thought of them. */
const isClosedKind = (tool: string, { rules }: RuleBook): boolean =>
  tool.startsWith("mcp__") && Verdict.isClosed(rules.filter(({ rule }) => rule.text.startsWith("mcp__")))

const relevant = ({ rules }: RuleBook, family: Family, tool: string): ReadonlyArray<Given> =>
  rules.filter(({ rule }) => speaksOf(rule, family, tool))

const fits = ({ subject }: Rules.Rule, call: Call): Fit => {
  if (subject.kind === "all") return "yes"
  if (subject.kind === "parameter") return subject.pattern.test(text(call, subject.name) ?? "") ? "yes" : "no"
  if (subject.kind !== "host") return "no"
  const host = hostOf(call)
  return host === undefined ? "maybe" : subject.pattern.test(host) ? "yes" : "no"
}

export const hostOf = (call: Call): string | undefined => {
  try {
    return new URL(text(call, "url") ?? "").hostname.toLowerCase().replace(/\.$/, "")
  } catch {
    return undefined
  }
}

// -----------------------------------------------------------------------------
// files
// -----------------------------------------------------------------------------

const file = (path: string, from: string, { cwd, tool }: Call, book: RuleBook, family: Family, closed?: boolean) =>
  Effect.gen(function* () {
    const fs = yield* Fs
    const root = yield* fs.resolve(".", { cwd })
    const target = yield* fs.resolve(path, { cwd: from })
    const { home } = book
    // A link leads where it leads: to permit, that is what counts; to forbid, the name does, too.
    const real = { path: target.targetKey, root: root.targetKey, home }
    const named = { path: resolve(from, path), root: resolve(cwd), home }
    const rules = relevant(book, family, tool)
    const fit = ({ effect, rule: { subject } }: Given): Fit => {
      if (subject.kind === "all") return "yes"
      if (subject.kind !== "path") return "no"
      const isReal = PathPattern.matches(subject.glob, real)
      return isReal || (effect !== "allow" && PathPattern.matches(subject.glob, named)) ? "yes" : "no"
    }
    const doing = family === "read" ? "reading" : "changing"
    return Verdict.judge(`${doing} ${path}`, rules, fit, closed ?? Verdict.isClosed(rules))
  })

// -----------------------------------------------------------------------------
// commands
// -----------------------------------------------------------------------------

/** They hold nothing. */
const devices = /^\/dev\/(?:null|stdin|stdout|stderr|fd\/\d+)$/

const shell = (call: Call, book: RuleBook, rules: ReadonlyArray<Given>): Judged =>
  Effect.gen(function* () {
    const command = text(call, "command")
    if (command === undefined) return Verdict.allowed
    const parse = yield* (yield* ShellSyntax).open
    const judged = CommandVerdict.judge(command, rules, parse)
    const outside = judged.closed || judged.granted ? yield* elsewhere(call) : undefined
    if (outside !== undefined && judged.verdict.kind !== "deny") return outside
    const opened = yield* Effect.forEach(judged.redirections, (one) => redirection(one, call, book, judged))
    // Who granted this text has seen what it writes.
    const files = opened.filter(({ kind }) => !(judged.granted && kind === "ask"))
    return Verdict.strictest([judged.verdict, ...files])
  })

/** A command that is fine in the workspace is another one in another folder. */
const elsewhere = (call: Call) =>
  Effect.gen(function* () {
    const folder = text(call, "workdir")
    if (folder === undefined) return undefined
    const fs = yield* Fs
    const root = yield* fs.resolve(".", { cwd: call.cwd })
    const target = yield* fs.resolve(folder, { cwd: call.cwd })
    const isInside = `${target.targetKey}/`.startsWith(root.targetKey.replace(/\/?$/, "/"))
    return isInside
      ? undefined
      : ({ kind: "ask", reason: `${folder} is outside the workspace` } satisfies Verdict.Verdict)
  })

const redirection = (
  { access, target }: Redirection,
  call: Call,
  book: RuleBook,
  judged: CommandVerdict.CommandVerdict
) => {
  const { closed, moves } = judged
  const family = access === "write" ? "change" : "read"
  const isStrict = closed && access === "write"
  const ask = (reason: string) => Effect.succeed<Verdict.Verdict>({ kind: "ask", reason })
  if (target.literal && devices.test(target.text)) return Effect.succeed(Verdict.allowed)
  if (!target.literal) {
    return isStrict ? ask(`where ${target.raw} is, is only known when it runs`) : Effect.succeed(Verdict.allowed)
  }
  if (isStrict && moves && !target.text.startsWith("/"))
    return ask(`where ${target.raw} is depends on a change of folder`)
  const from = resolve(call.cwd, text(call, "workdir") ?? ".")
  const rules = relevant(book, family, family === "change" ? "write" : "read")
  if (rules.length === 0 && !isStrict) return Effect.succeed(Verdict.allowed)
  const tool = family === "change" ? "write" : "read"
  return file(target.text, from, { ...call, tool }, book, family, isStrict || Verdict.isClosed(rules))
}
