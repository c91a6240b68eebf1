/**
 * Words of a text that could not be read, as well as they can be guessed: enough to notice the name of something that is forbidden.
 */
import type { Word } from "../ShellCommands.ts"

const literal = (text: string): Word => ({
  raw: text,
  text,
  literal: true,
  single: true,
  maybeOption: text.startsWith("-")
})

/** As many words as any rule has; more only take time. */
export const enough = 64

/** Every place where a command may begin, and the words from there on. */
export const guesses = (text: string): ReadonlyArray<ReadonlyArray<Word>> =>
  text
    .replaceAll(/\\\n/g, "")
    .replaceAll(/[^\P{C}\n\t]/gu, " ")
    .split(/[\n;&|()`<>{}[\]]+/)
    .flatMap((run) => {
      const words = run
        .split(/[\s,]+/u)
        .map((word) => literal(word.replaceAll(/['"\\$]/g, "")))
        .filter(({ text }) => text !== "")
      return words.map((_, i) => words.slice(i, i + enough))
    })
