/**
 * What programs are known to do with their words: which run others, which run what they are told, and which options make a harmless one
 * run or write something.
 *
 * A list can never be complete, so nothing relies on it alone: it keeps a rule such as `git log *` from permitting more than it says,
 * and a rule that says more than it seems to, such as `python *`, from permitting anything at all.
 */
import type { Word } from "./ShellCommands.ts"
import * as Table from "./Programs/Table.ts"
import * as Wrappers from "./Programs/Wrappers.ts"

/**
 * `carrier`: its words go on as another command. `searcher`: they may, behind an option. `interpreter`: its words, or what it reads, are
 * code, commands or the shell's own state. `plain`: anything else.
 */
export type Kind = "plain" | "searcher" | "carrier" | "interpreter"

const baseOf = ({ text }: Word): string =>
  text
    .replace(/^.*[\\/]/, "")
    .toLowerCase()
    .replace(/\.exe$/, "")

/** `python3.12` is python. */
const family = (base: string): string => base.replace(/(?<=^[a-z]{2,})-?\d[\d.]*$/, "")

export const kindOf = (words: ReadonlyArray<Word>): Kind => {
  const [program] = words
  if (program === undefined) return "plain"
  if (!program.literal) return "carrier"
  const base = baseOf(program)
  const isSafe = Table.safeForms[base]
  if (isSafe !== undefined && words.every(({ literal }) => literal) && isSafe.test(line(words))) return "plain"
  for (const name of [base, family(base)]) {
    if (Table.carriers.has(name)) return "carrier"
    if (Table.interpreters.has(name)) return "interpreter"
    if (Table.searchers.has(name)) return "searcher"
  }
  return "plain"
}

/** Whether the word behind this one of a searcher is a command. */
export const announcesCommand = ({ text }: Word): boolean =>
  /^-(?:exec|execdir|ok|okdir|x|X|-exec|-exec-batch)$/.test(text)

const line = (words: ReadonlyArray<Word>): string => words.map(({ text }) => text).join(" ")

/** The command that a wrapper runs as it is given, and nothing else. Undefined when there is none, or it cannot be told. */
export const inner = (words: ReadonlyArray<Word>): ReadonlyArray<Word> | undefined => {
  const [program, ...rest] = words
  // Only by its plain name: something else may stand at a path.
  return program?.literal === true ? Wrappers.inner(program.text, rest) : undefined
}

/** Why a command may do more than its program usually does. */
export const hazard = (words: ReadonlyArray<Word>): string | undefined => {
  const [program, ...rest] = words
  if (program === undefined) return undefined
  const base = baseOf(program)
  const options = Table.options[base] ?? Table.options[family(base)]
  if (options === undefined) return undefined
  const end = rest.findIndex(({ literal, text }) => literal && text === "--")
  const before = end === -1 ? rest : rest.slice(0, end)
  for (const word of before) {
    if (word.literal ? isHazard(options, word.text) : word.maybeOption) {
      return word.literal
        ? `${base} ${word.text} can run a program or write a file`
        : `${word.raw} may turn out as an option of ${base} that runs a program or writes a file`
    }
  }
  const found = options.line?.exec(line(words))?.[0]
  return found === undefined ? undefined : `${found.trim()} can run a program or write a file`
}

const isHazard = ({ long = [], short, words = [] }: Table.Options, text: string): boolean => {
  if (words.includes(text.replace(/=[^]*$/, ""))) return true
  if (text.startsWith("--")) {
    const name = text.slice(2).replace(/=[^]*$/, "")
    // Long options may be shortened.
    return name !== "" && long.some((option) => option.startsWith(name))
  }
  return short !== undefined && /^-\w/.test(text) && Array.from(text.slice(1)).some((letter) => short.includes(letter))
}
