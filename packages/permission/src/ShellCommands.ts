/**
 * What a shell text would run: its simple commands with their words, wherever they stand, and what it redirects and assigns.
 *
 * Whoever permits a command relies on nothing being missed, and no parser agrees with bash about everything. So a text counts as
 * understood only when all of it is accounted for, character by character, by constructs that are positively known. Everything else is
 * a doubt: then the commands that were found are still told, for those who look for one, but nobody may conclude that they are all.
 */
import type { Parse } from "./ShellSyntax.ts"
import * as Accounting from "./ShellCommands/Accounting.ts"
import * as Reader from "./ShellCommands/Reader.ts"

/** What stands for one argument, or for several. */
export interface Word {
  /** As it is written. */
  readonly raw: string
  /** What it comes to, if that is known: without quotes and escapes. */
  readonly text: string
  /** The word is exactly `text`, whatever the world looks like. */
  readonly literal: boolean
  /** It is one argument, neither several nor none. */
  readonly single: boolean
  /** It may turn out as an option: it begins with a dash, or with what is not known. */
  readonly maybeOption: boolean
}

export interface Command {
  /** The program first. Never empty. */
  readonly words: ReadonlyArray<Word>
  /** Texts that it is given to read: here-documents and here-strings. */
  readonly input: ReadonlyArray<string>
  readonly place: Place
}

/** Where a command stands, for people who have to find it. */
export type Place = "command" | "substitution" | "function"

export interface Redirection {
  readonly access: "read" | "write"
  readonly target: Word
}

export interface Assignment {
  readonly name: string
  /** It is put into the environment of one command; otherwise it is a variable of the shell. */
  readonly exported: boolean
}

export interface Reading {
  readonly commands: ReadonlyArray<Command>
  readonly redirections: ReadonlyArray<Redirection>
  readonly assignments: ReadonlyArray<Assignment>
  /** Why the above may not be all. Empty: it is. */
  readonly doubts: ReadonlyArray<string>
  /** The text was not even parsed as bash would do it, so words may stand anywhere. */
  readonly garbled: boolean
}

/** Longer texts are not read: nobody could tell what they do by looking, either. */
const maxLength = 65_536

const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]|(?! )\p{Zs}/u

/** A line that goes on in the midst of a word, or whose backslash is escaped itself. */
const splitWord = /(?:[^ \t\n]|\\[ \t])\\\n(?![ \t])|\\\\\n/

export const read = (text: string, parse: Parse): Reading => {
  if (text.length > maxLength) return unread(`it is longer than ${maxLength} characters`)
  const garbled: Array<string> = []
  if (invisible.test(text.replaceAll(/[\t\n]/g, ""))) garbled.push("it holds characters that cannot be seen")
  if (splitWord.test(text)) garbled.push("a line ends within a word")
  const root = parse(text)
  const problem = Accounting.problem(text, root)
  if (problem !== undefined) garbled.push(problem)
  const found = Reader.read(text, root)
  return { ...found, doubts: [...garbled, ...found.doubts], garbled: garbled.length > 0 }
}

const unread = (doubt: string): Reading => ({
  commands: [],
  redirections: [],
  assignments: [],
  doubts: [doubt],
  garbled: true
})
