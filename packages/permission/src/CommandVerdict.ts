/**
 * What the rules say about a shell text. It is allowed when every command that it runs is, and nothing about it is in doubt; it is
 * denied when a command that is denied stands anywhere in it.
 */
import * as Programs from "./Programs.ts"
import * as Variables from "./Programs/Variables.ts"
import * as CommandPattern from "./Rules/CommandPattern.ts"
import type { Fit } from "./Rules/CommandPattern.ts"
import * as ShellCommands from "./ShellCommands.ts"
import type { Command, Redirection, Word } from "./ShellCommands.ts"
import * as Tokens from "./ShellCommands/Tokens.ts"
import type { Parse } from "./ShellSyntax.ts"
import * as Verdict from "./Verdict.ts"
import type { Given } from "./Verdict.ts"

export interface CommandVerdict {
  readonly verdict: Verdict.Verdict
  /** Files that it opens itself, still to be judged. */
  readonly redirections: ReadonlyArray<Redirection>
  /** Somebody has granted this very text. */
  readonly granted: boolean
  /** A file may be written only where a rule allows that. */
  readonly closed: boolean
  /** It changes its folder on the way, so a relative path may be anywhere. */
  readonly moves: boolean
}

/** @param rules Those that speak of the shell. */
export const judge = (text: string, rules: ReadonlyArray<Given>, parse: Parse): CommandVerdict => {
  const judge = new Judge(rules, parse)
  return judge.text(text)
}

/** How deep commands in commands in commands are looked for. */
const maxDepth = 4

const quoted = (words: ReadonlyArray<Word>): string => `"${words.map(({ raw }) => raw).join(" ")}"`

class Judge {
  private readonly rules: ReadonlyArray<Given>
  private readonly parse: Parse

  constructor(rules: ReadonlyArray<Given>, parse: Parse) {
    this.rules = rules
    this.parse = parse
  }

  text(text: string): CommandVerdict {
    const reading = ShellCommands.read(text, this.parse)
    const isMeant = ({ rule: { subject } }: Given): boolean =>
      subject.kind === "all" || (subject.kind === "text" && subject.text === text.trim())
    const whole = this.rules.filter(isMeant)
    const isGranted = whole.some(({ granted }) => granted === true)
    const isWhole = isGranted || whole.some(({ effect }) => effect === "allow")
    const isOpen = isWhole || !Verdict.isClosed(this.rules)
    const forbidding = this.rules.filter(({ effect }) => effect !== "allow")
    const verdicts = [
      ...forbidding.filter(isMeant).map((given) => this.against("this command", given, "yes")),
      ...reading.commands.flatMap((command) => this.forbidden(command, forbidding)),
      ...(reading.garbled ? this.guessed(text, forbidding) : []),
      // Without rules for commands nobody wants to know.
      ...(isWhole || this.rules.length === 0 ? [] : doubts(reading)),
      ...(isOpen ? [] : reading.commands.map((command) => this.permitted(command))),
      ...(isOpen ? [] : assigned(reading))
    ].filter((verdict) => !isGranted || answered(verdict))
    return {
      verdict: Verdict.strictest(verdicts),
      redirections: reading.redirections,
      granted: isGranted,
      closed: !isOpen,
      moves: reading.garbled || reading.commands.some(({ words }) => words.some(({ text }) => moving.has(text)))
    }
  }

  private against(what: string, given: Given, fit: Fit): Verdict.Verdict {
    if (fit === "no") return Verdict.allowed
    return given.effect === "deny" && fit === "yes" ? Verdict.denied(what, given) : Verdict.asked(what, given)
  }

  private forbidden({ input, words }: Command, forbidding: ReadonlyArray<Given>): ReadonlyArray<Verdict.Verdict> {
    const isGranted = this.rules.some(
      ({ granted, rule: { subject } }) =>
        granted === true && subject.kind === "command" && CommandPattern.covers(subject.pattern, words) === "yes"
    )
    return forbidding
      .map((given) => this.against(quoted(words), given, this.caught(given, words, input, 0)))
      .filter((verdict) => !isGranted || answered(verdict))
  }

  private guessed(text: string, forbidding: ReadonlyArray<Given>): ReadonlyArray<Verdict.Verdict> {
    return Tokens.guesses(text).flatMap((words) =>
      forbidding.map((given) => this.against(quoted(words), given, catches(given, words)))
    )
  }

  /** Whether a command is what a rule is against, or runs it. */
  private caught(given: Given, words: ReadonlyArray<Word>, input: ReadonlyArray<string>, depth: number): Fit {
    const direct = catches(given, words)
    if (direct === "yes" || depth > maxDepth) return direct
    const kind = Programs.kindOf(words)
    if (kind === "plain") return direct
    const fits: Array<Fit> = [direct]
    if (kind !== "interpreter") {
      for (let i = 1; i < words.length; i++) {
        const fit = catches(given, words.slice(i, i + Tokens.enough))
        if (fit === "yes" || kind === "carrier" || Programs.announcesCommand(words[i - 1]!)) fits.push(fit)
      }
    }
    const texts = words.slice(1).flatMap(({ text }) => (/[\s;&|()<>`$'"]/.test(text) ? [text] : []))
    for (const text of [...texts, ...input]) {
      fits.push(...Tokens.guesses(text).map((guess) => catches(given, guess)))
      const { commands } = ShellCommands.read(text, this.parse)
      fits.push(...commands.map((command) => this.caught(given, command.words, command.input, depth + 1)))
    }
    return fits.includes("yes") ? "yes" : fits.includes("maybe") ? "maybe" : "no"
  }

  private permitted({ words }: Command): Verdict.Verdict {
    const allowing = this.rules.flatMap(({ effect, rule: { subject } }) =>
      effect === "allow" && subject.kind === "command" ? [subject.pattern] : []
    )
    const reason = this.refusal(words, allowing, 0)
    return reason === undefined ? Verdict.allowed : { kind: "ask", reason }
  }

  private refusal(
    words: ReadonlyArray<Word>,
    allowing: ReadonlyArray<CommandPattern.CommandPattern>,
    depth: number
  ): string | undefined {
    const covering = allowing.filter((pattern) => CommandPattern.covers(pattern, words) === "yes")
    if (covering.some(({ exact }) => exact)) return undefined
    const inner = depth > maxDepth ? undefined : Programs.inner(words)
    if (inner !== undefined) return this.refusal(inner, allowing, depth + 1)
    if (words[0]?.literal === false) return `which program ${quoted(words)} is, is only known when it runs`
    if (["carrier", "interpreter"].includes(Programs.kindOf(words))) {
      return `${quoted(words)} runs what it is told to, so only a rule for exactly this command allows it`
    }
    const hazard = Programs.hazard(words)
    if (hazard !== undefined) return hazard
    return covering.length > 0 ? undefined : `no rule allows ${quoted(words)}`
  }
}

const catches = ({ rule: { subject } }: Given, words: ReadonlyArray<Word>): Fit =>
  subject.kind === "command" ? CommandPattern.catches(subject.pattern, words) : "no"

/** Who granted it has been asked. */
const answered = ({ kind }: Verdict.Verdict): boolean => kind === "deny"

const moving = new Set(["cd", "pushd", "popd", "chdir"])

const doubts = ({ doubts }: ShellCommands.Reading): ReadonlyArray<Verdict.Verdict> =>
  doubts.slice(0, 1).map((doubt) => ({ kind: "ask", reason: `it cannot be told what this command runs: ${doubt}` }))

const assigned = ({ assignments }: ShellCommands.Reading): ReadonlyArray<Verdict.Verdict> =>
  assignments.flatMap(({ exported, name }) =>
    (exported ? Variables.isHarmless(name) : Variables.isLocal(name))
      ? []
      : [{ kind: "ask", reason: `the variable ${name} may change what is run` }]
  )
