/**
 * What a shell offers when somebody presses Tab. The scripts ask the command itself, so that they know what it knows: its options, and
 * what there is on this machine.
 */
import * as Effect from "effect/Effect"
import { commands, groups, rootOptions, shells } from "./Grammar.ts"
import type { CommandName, Shape } from "./Grammar.ts"
import { topics } from "./Topics.ts"

const bash = `_dsh() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(dsh --complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _dsh dsh`

const zsh = `#compdef dsh
_dsh() {
  local -a found
  found=(\${(f)"$(dsh --complete "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#found} )); then compadd -a found; else _files; fi
}
compdef _dsh dsh`

const fish = `complete -c dsh -a '(dsh --complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'`

/** The script for a shell. */
export const script = (shell: string): string => (shell === "zsh" ? zsh : shell === "fish" ? fish : bash)

/** Values that have to be looked up. */
export type Source = "sessions" | "presets" | "models"

type Candidates = ReadonlyArray<string> | Source

const names = Object.keys(commands) as ReadonlyArray<CommandName>

/** @param words What follows the name of the program; the last one is being typed. */
const candidates = (words: ReadonlyArray<string>): Candidates => {
  const [first = "", second] = words
  if (words.length <= 1) {
    return first.startsWith("-") ? rootOptions : [...new Set(names.map((name) => name.split(" ")[0]!)), "help"]
  }
  if (first === "help")
    return [...names, ...groups, ...Object.keys(topics)].flatMap((name) => rest(name, words.slice(1, -1)))
  if (first === "--completions") return shells
  const isGroup = groups.some((group) => group === first)
  if (isGroup && words.length === 2) return names.flatMap((name) => rest(name, [first]))
  const command = names.find((name) => name === (isGroup ? `${first} ${second}` : first))
  return command === undefined ? [] : ofCommand(command, words.slice(isGroup ? 2 : 1))
}

/** The next word of a name that begins with those words. */
const rest = (name: string, before: ReadonlyArray<string>): ReadonlyArray<string> => {
  const parts = name.split(" ")
  const next = parts[before.length]
  return next !== undefined && before.every((word, i) => word === parts[i]) ? [next] : []
}

const ofCommand = (command: CommandName, words: ReadonlyArray<string>): Candidates => {
  const shape: Shape = commands[command]
  const typed = words.at(-1) ?? ""
  const before = words.at(-2) ?? ""
  if (before in shape.options) return valuesOf(before)
  if (typed.startsWith("-")) {
    const all = [...Object.keys(shape.options), ...(shape.flags ?? []), "--help"]
    return all.filter((option) => !words.slice(0, -1).includes(option))
  }
  if (shape.words._tag !== "One" && shape.words._tag !== "Some") return []
  if (command.startsWith("session ") && command !== "session search") return "sessions"
  return command.startsWith("preset ") ? "presets" : []
}

const valuesOf = (option: string): Candidates => {
  switch (option) {
    case "--session":
    case "--fork":
      return "sessions"
    case "--preset":
      return "presets"
    case "--model":
      return "models"
    case "--permission":
      return ["read-only", "workspace-write", "danger-full-access"]
    default:
      // A file, mostly: then the shell knows better.
      return []
  }
}

/** Those that fit what was typed, one per line. What cannot be looked up is not offered. */
export const offer = (
  words: ReadonlyArray<string>,
  lookUp: (source: Source) => Effect.Effect<ReadonlyArray<string>>
): Effect.Effect<string> => {
  const found = candidates(words)
  return Effect.map(typeof found === "string" ? lookUp(found) : Effect.succeed(found), (all) => {
    const typed = words.at(-1) ?? ""
    return [...new Set(all)].filter((one) => one.startsWith(typed)).join("\n")
  })
}
