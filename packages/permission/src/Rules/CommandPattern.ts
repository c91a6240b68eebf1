/**
 * A command as a rule describes it: word by word, never as text, so that no quoting, separator or further word slips through.
 *
 * Whether a command fits may be open, because a word of it is only known to the running shell: then the answer is `maybe`.
 */
import * as Either from "effect/Either"
import type { Word } from "../ShellCommands.ts"
import * as Wildcard from "./Wildcard.ts"

export type Fit = "yes" | "maybe" | "no"

interface WordPattern {
  /** What it begins with, in any case. */
  readonly start: string
  readonly matches: (text: string) => boolean
  /** It is one text, without a star. */
  readonly exact: boolean
  /** A star and nothing else. */
  readonly any: boolean
}

export interface CommandPattern {
  /** Never empty. */
  readonly words: ReadonlyArray<WordPattern>
  /** Further words may follow. */
  readonly open: boolean
  /** It fits one command and no other. */
  readonly exact: boolean
}

interface Written {
  readonly text: string
  /** Where its stars are. */
  readonly stars: ReadonlySet<number>
}

export const parse = (text: string): Either.Either<CommandPattern, string> => {
  if (text.trim().endsWith(":*")) return Either.left("ends in :*; a space and a star stand for further words")
  const written = split(text.trim())
  if (written === undefined) return Either.left("has a quote that does not end")
  const last = written[written.length - 1]!
  const open = last.stars.has(last.text.length - 1)
  // A star of its own stands for further words, one at the end of a word for the rest of it, too.
  const named = open && last.text === "*" ? written.slice(0, -1) : written
  const words = named.map(compile)
  return Either.right({ words, open, exact: !open && words.every(({ exact }) => exact) })
}

/** Words and their quotes, as a shell has them, apart from everything else that a shell knows. */
const split = (text: string): ReadonlyArray<Written> | undefined => {
  const written: Array<Written> = []
  const pieces = /\s+|'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|([^\s'"\\])/gy
  let word: { text: string; readonly stars: Set<number> } | undefined
  let at = 0
  for (let found = pieces.exec(text); found !== null; found = pieces.exec(text)) {
    at = pieces.lastIndex
    const [whole, single, double, escaped, plain] = found
    if (/^\s/.test(whole)) {
      if (word !== undefined) written.push(word)
      word = undefined
      continue
    }
    word ??= { text: "", stars: new Set() }
    if (plain === "*") word.stars.add(word.text.length)
    word.text += single ?? double?.replaceAll(/\\(["\\$`])/g, "$1") ?? escaped ?? plain ?? ""
  }
  if (word !== undefined) written.push(word)
  return at === text.length ? written : undefined
}

const compile = ({ stars, text }: Written): WordPattern => {
  if (stars.size === 0) return { start: text, matches: (other) => other === text, exact: true, any: false }
  const parts: Array<string> = []
  let from = 0
  for (const star of stars) {
    parts.push(text.slice(from, star))
    from = star + 1
  }
  const pattern = Wildcard.between([...parts, text.slice(from)])
  return { start: parts[0]!, matches: (other) => pattern.test(other), exact: false, any: text === "*" }
}

const fits = (pattern: WordPattern, word: Word): Fit => {
  if (word.literal) return pattern.matches(word.text) ? "yes" : "no"
  if (pattern.start.startsWith("-") && !word.maybeOption) return "no"
  return pattern.any && word.single ? "yes" : "maybe"
}

const rank = { no: 0, maybe: 1, yes: 2 } as const

const both = (a: Fit, b: Fit): Fit => (rank[a] < rank[b] ? a : b)
const either = (a: Fit, b: Fit): Fit => (rank[a] < rank[b] ? b : a)

/** To permit: the words as they stand, no more and no less. */
export const covers = ({ open, words: patterns }: CommandPattern, words: ReadonlyArray<Word>): Fit => {
  if (words.length < patterns.length || (!open && words.length > patterns.length)) return "no"
  return patterns.reduce<Fit>((fit, pattern, i) => both(fit, fits(pattern, words[i]!)), "yes")
}

/**
 * To forbid: options may stand between the words, a program may be named by its path and in any case, and what is not known may be
 * what is looked for.
 */
export const catches = ({ open, words: [name, ...patterns] }: CommandPattern, words: ReadonlyArray<Word>): Fit => {
  const [program, ...rest] = words
  if (program === undefined || name === undefined) return "no"
  const base = program.text.replace(/^.*[\\/]/, "")
  const named = [program.text, base, base.toLowerCase()]
    .map((text) => fits(name, { ...program, text }))
    .reduce(either, "no")
  return named === "no" ? "no" : both(named, follow(patterns, rest, open))
}

/** Whether the words fit the patterns when options, each perhaps with a value, are left out. */
const follow = (patterns: ReadonlyArray<WordPattern>, words: ReadonlyArray<Word>, open: boolean): Fit => {
  const known = new Map<number, Fit>()
  const from = (i: number, j: number): Fit => {
    const pattern = patterns[i]
    if (pattern === undefined) return open || j >= words.length ? "yes" : "no"
    const word = words[j]
    if (word === undefined) return "no"
    const key = i * words.length + j
    let fit = known.get(key)
    if (fit === undefined) {
      fit = both(fits(pattern, word), from(i + 1, j + 1))
      if (open && word.text.startsWith("-")) fit = [from(i, j + 1), from(i, j + 2)].reduce(either, fit)
      known.set(key, fit)
    }
    return fit
  }
  return from(0, 0)
}
