/**
 * From `process.argv` to what was asked for, or to the one sentence that says what is wrong with it.
 *
 * (`--version` never gets here: `bin/dsh.cjs` answers it before the bundle is loaded.)
 *
 * Pure and without imports from any library: this is all that a usage error, and the parsing of `dsh run`, cost at
 * start-up. It is also stricter than `@effect/cli`, which takes an unknown flag for the next word and a missing value
 * for a default.
 */
import { commands, groups, launcherOptions, rootOptions, shells } from "./Grammar.ts"
import type { CommandName, Group, Page, Shape } from "./Grammar.ts"
import { suggest } from "@dsh/kernel/Nearest"
import { topics } from "./Topics.ts"
import type { Topic } from "./Topics.ts"

/** The composition that was asked for. */
export interface Launch {
  readonly profile: string
  /** Files, strongest last. */
  readonly patches: ReadonlyArray<string>
}

type Args = ReadonlyArray<string>

export interface Invocation {
  readonly _tag: "Invocation"
  readonly command: CommandName
  readonly options: Readonly<Record<string, string>>
  readonly flags: ReadonlyArray<string>
  readonly words: ReadonlyArray<string>
  /** Default: the profile `headless`, as it is. */
  readonly launch?: Launch
}

export type Parsed =
  | Invocation
  | { readonly _tag: "Help"; readonly page: Page }
  | { readonly _tag: "HelpTopic"; readonly topic: Topic }
  | { readonly _tag: "Completions"; readonly shell: string }
  /** What could be typed next; the last word is being typed. */
  | { readonly _tag: "Complete"; readonly words: Args }
  /** Print the composition; `own`: with what the user changed. */
  | { readonly _tag: "Dump"; readonly launch: Launch; readonly own: boolean }
  | { readonly _tag: "Usage"; readonly message: string }

export type WellFormed = Exclude<Parsed, { readonly _tag: "Usage" }>

/** A dash and a letter. `- a list`, `-5` and `-` are words. */
const isOption = (arg: string): boolean => /^--?[A-Za-z]/.test(arg)

const usage = (message: string): Parsed => ({ _tag: "Usage", message })

const names = Object.keys(commands) as ReadonlyArray<CommandName>

/** @param args What follows the name of the program. */
export const parse = (args: Args): Parsed => {
  const [first, ...rest] = args
  if (first === undefined) return usage(`say what to do, for example: dsh run "fix the failing test" (see dsh --help)`)
  if (first === "--help" || first === "-h") return { _tag: "Help", page: "dsh" }
  if (first === "--complete") return { _tag: "Complete", words: rest }
  if (first.startsWith("--profile")) return parseProfile(args)
  if (first.startsWith("--completions")) return parseCompletions(args)
  if (isOption(first)) return unknownRootOption(first)
  return parseCommand(first, rest)
}

const parseCommand = (first: string, rest: Args): Parsed => {
  if (first === "help") return parseHelp(rest)
  const group = groups.find((name) => name === first)
  if (group !== undefined) return parseGroup(group, rest)
  const command = names.find((name) => name === first)
  if (command !== undefined) return parseRest(command, rest)
  return usage(`"${first}" is no command of dsh; ${suggest(first, [...firstWords(), "help"])}`)
}

const firstWords = (): ReadonlyArray<string> => Array.from(new Set(names.map((name) => name.split(" ")[0]!)))

/** `dsh help`, and of a command, a group or a topic. */
const parseHelp = (words: Args): Parsed => {
  const about = words.filter((word) => word !== "--help" && word !== "-h").join(" ")
  const page = about === "" ? "dsh" : [...names, ...groups].find((name) => name === about)
  if (page !== undefined) return { _tag: "Help", page }
  const known = Object.keys(topics) as ReadonlyArray<Topic>
  const topic = known.find((name) => name === about)
  if (topic !== undefined) return { _tag: "HelpTopic", topic }
  return usage(`there is no help about "${about}"; ${suggest(about, [...names, ...groups, ...known])}`)
}

const parseGroup = (group: Group, [child, ...rest]: Args): Parsed => {
  if (child === "--help" || child === "-h") return { _tag: "Help", page: group }
  const children = names.filter((name) => name.startsWith(`${group} `)).map((name) => name.slice(group.length + 1))
  if (child === undefined) return usage(`"dsh ${group}" needs one of ${children.join(", ")}`)
  const command = names.find((name) => name === `${group} ${child}`)
  if (command !== undefined) return parseRest(command, rest)
  const [kind, known] = isOption(child) ? ["option", ["--help"]] : ["command", children]
  return usage(`"${child}" is no ${kind} of "dsh ${group}"; ${suggest(child, known)}`)
}

/** Everything after the command: options anywhere before `--`, words anywhere. */
const parseRest = (command: CommandName, args: Args): Parsed => {
  const shape: Shape = commands[command]
  const options: Record<string, string> = {}
  const flags: Array<string> = []
  const words: Array<string> = []
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!
    if (arg === "--") {
      words.push(...args.slice(i + 1))
      break
    }
    if (!isOption(arg)) {
      words.push(...(shape.words._tag === "Rest" ? args.slice(i) : [arg]))
      if (shape.words._tag === "Rest") break
      continue
    }
    if (arg === "--help" || arg === "-h") return { _tag: "Help", page: command }
    const equals = arg.indexOf("=")
    const name = equals === -1 ? arg : arg.slice(0, equals)
    if (shape.flags?.includes(name) === true) {
      if (equals !== -1) return usage(`${name} takes no value`)
      if (flags.includes(name)) return usage(`${name} was given twice`)
      flags.push(name)
      continue
    }
    const placeholder = shape.options[name]
    if (placeholder === undefined) return unknownOption(command, shape, name)
    if (name in options) return usage(`${name} was given twice`)
    const value = equals === -1 ? args[++i] : arg.slice(equals + 1)
    if (value === undefined || value === "" || (equals === -1 && (value === "--" || isOption(value)))) {
      return usage(`${name} needs a value: ${name} ${placeholder}`)
    }
    options[name] = value
  }
  return (
    checkWords(command, shape, words) ??
    checkTogether(options, flags) ?? { _tag: "Invocation", command, options, flags, words }
  )
}

const checkTogether = (options: Readonly<Record<string, string>>, flags: Args): Parsed | undefined =>
  [...Object.keys(options), ...flags].filter((name) => origins.includes(name)).length > 1
    ? usage("--session, --continue and --fork exclude each other; a run has one beginning")
    : undefined

const origins = ["--session", "--continue", "--fork"]

const checkWords = (command: CommandName, { words: expected }: Shape, words: Args): Parsed | undefined => {
  switch (expected._tag) {
    case "None":
      return words.length === 0 ? undefined : usage(`"dsh ${command}" takes no "${words[0]}"`)
    case "One":
      if (words.length === 0) return usage(`"dsh ${command}" needs its ${expected.name}`)
      if (words.length > 1 && expected.secret !== undefined) {
        return usage(`"dsh ${command}" takes one ${expected.name}; ${expected.secret}`)
      }
      return words.length === 1
        ? undefined
        : usage(`"dsh ${command}" takes one ${expected.name}, not also "${words[1]}"`)
    case "Some": {
      const missing = expected.names[words.length]
      if (words.length < expected.least) return usage(`"dsh ${command}" needs its ${missing}`)
      const extra = words[expected.names.length]
      return extra === undefined ? undefined : usage(`"dsh ${command}" takes no "${extra}"`)
    }
    case "Task":
      return words.length === 0 || words.join(" ").trim() !== ""
        ? undefined
        : usage(`the task is blank; say what to do, for example: dsh ${command} "fix the failing test"`)
    case "Rest":
      return words.length > 0 ? undefined : usage(`"dsh ${command}" needs something to do: ${expected.name}`)
  }
}

const unknownOption = (command: CommandName, shape: Shape, name: string): Parsed => {
  const hint = suggest(name, [...Object.keys(shape.options), ...(shape.flags ?? []), "--help"])
  const escape = shape.words._tag === "Task" ? " (a task that starts with a dash goes after --)" : ""
  return usage(`${name} is no option of "dsh ${command}"; ${hint}${escape}`)
}

const unknownRootOption = (arg: string): Parsed => {
  const name = arg.replace(/=.*/s, "")
  const owner = names.find((command) => {
    const shape: Shape = commands[command]
    return name in shape.options || shape.flags?.includes(name) === true
  })
  const hint = owner === undefined ? suggest(name, rootOptions) : `it goes after the command: dsh ${owner} ${name}`
  return usage(`${name} is no option of "dsh"; ${hint}`)
}

/** `--profile NAME` and `--completions SHELL`: the value of the first option, and what follows it. */
const rootValue = (
  name: string,
  [first, ...rest]: Args
): { readonly value: string; readonly rest: Args } | undefined => {
  if (first !== name) return { value: first!.slice(name.length + 1), rest }
  const [value, ...others] = rest
  return value === undefined || isOption(value) ? undefined : { value, rest: others }
}

const parseProfile = (args: Args): Parsed => {
  if (!/^--profile(=|$)/.test(args[0]!)) return unknownRootOption(args[0]!)
  const found = rootValue("--profile", args)
  if (found === undefined || found.value === "") return usage(`--profile needs a value: --profile NAME`)
  const patches: Array<string> = []
  const dumps: Array<string> = []
  let rest = found.rest
  for (let [first] = rest; first !== undefined; [first] = rest) {
    const name = first.replace(/=.*/s, "")
    if (!launcherOptions.includes(name)) break
    if (name !== "--patch") {
      if (first !== name) return usage(`${name} takes no value`)
      dumps.push(name)
      rest = rest.slice(1)
      continue
    }
    const patch = rootValue("--patch", rest)
    if (patch === undefined || patch.value === "") return usage("--patch needs a value: --patch FILE")
    patches.push(patch.value)
    rest = patch.rest
  }
  const launch = { profile: found.value, patches }
  if (dumps.length > 0) return parseDump(launch, dumps, rest)
  const parsed = parseRest("run", rest[0] === "--" ? rest.slice(1) : rest)
  return parsed._tag === "Invocation" ? { ...parsed, launch } : parsed
}

const parseDump = (launch: Launch, dumps: Args, rest: Args): Parsed => {
  const [dump, another] = new Set(dumps)
  if (another !== undefined) return usage("--dump-config and --dump-default-config exclude each other")
  if (rest.length > 0) return usage(`${dump} takes nothing behind it, not "${rest[0]}"`)
  if (dump === "--dump-default-config" && launch.patches.length > 0) {
    return usage("--dump-default-config prints what is in the box, without any --patch; use --dump-config")
  }
  return { _tag: "Dump", launch, own: dump === "--dump-config" }
}

const parseCompletions = (args: Args): Parsed => {
  if (!/^--completions(=|$)/.test(args[0]!)) return unknownRootOption(args[0]!)
  const shell = rootValue("--completions", args)?.value
  return shell !== undefined && shells.includes(shell)
    ? { _tag: "Completions", shell }
    : usage(`--completions needs a value: one of ${shells.join(", ")}`)
}

/** The same request in the one order `@effect/cli` cannot misread: command, options, `--`, words. */
export const canonical = ({ command, flags, options, words }: Invocation): Args => [
  ...command.split(" "),
  ...flags,
  ...Object.entries(options).flat(),
  ...(words.length > 0 ? ["--", ...words] : [])
]
