/**
 * Programs that run the rest of their words as a command and change nothing about what it does: then that command is what counts.
 */
import type { Word } from "../ShellCommands.ts"
import * as Variables from "./Variables.ts"

type Words = ReadonlyArray<Word>

interface Options {
  /** Options that stand alone. */
  readonly flags: RegExp
  /** Options whose value is the next word. */
  readonly valued?: RegExp
}

/** What follows the options; undefined when an option is not known. */
const after = (words: Words, { flags, valued }: Options): Words | undefined => {
  for (let i = 0; i < words.length; i++) {
    const { literal, text } = words[i]!
    if (!literal) return words[i]!.maybeOption || !words[i]!.single ? undefined : words.slice(i)
    if (text === "--") return words.slice(i + 1)
    if (!text.startsWith("-") || text === "-") return words.slice(i)
    if (valued?.test(text) === true) i++
    else if (!flags.test(text)) return undefined
  }
  return []
}

const none = /^$/

const command = (words: Words | undefined): Words | undefined => {
  const first = words?.[0]
  return first === undefined || !first.literal ? undefined : words
}

const dropped: Word = { raw: "…", text: "", literal: false, single: false, maybeOption: true }

const readers: Readonly<Record<string, (words: Words) => Words | undefined>> = {
  env: (words) => {
    const rest = after(words, { flags: none })
    const first = rest?.findIndex(({ literal, text }) => !(literal && /^\w+=/.test(text))) ?? -1
    if (rest === undefined || first === -1) return undefined
    const names = rest.slice(0, first).map(({ text }) => text.replace(/=[^]*$/, ""))
    return names.every(Variables.isHarmless) ? command(rest.slice(first)) : undefined
  },
  timeout: (words) => {
    const rest = after(words, {
      flags: /^(?:--preserve-status|--foreground|-v|--verbose|--signal=\w+|--kill-after=[\d.]+[smhd]?)$/,
      valued: /^-[ks]$/
    })
    const [duration] = rest ?? []
    return duration?.literal === true && /^[\d.]+[smhd]?$/.test(duration.text) ? command(rest?.slice(1)) : undefined
  },
  nice: (words) => command(after(words, { flags: /^(?:-n?-?\d+|--adjustment=-?\d+)$/, valued: /^-n$/ })),
  nohup: (words) => command(after(words, { flags: none })),
  time: (words) => command(after(words, { flags: /^-p$/ })),
  command: (words) => command(after(words, { flags: none })),
  xargs: (words) => {
    const rest = command(
      after(words, {
        flags: /^(?:-0|--null|-r|--no-run-if-empty|-t|-[nLP]\d+)$/,
        valued: /^-[nLPd]$/
      })
    )
    // What it reads becomes further words.
    return rest === undefined ? undefined : [...rest, dropped]
  }
}

export const inner = (program: string, words: Words): Words | undefined =>
  Object.hasOwn(readers, program) ? readers[program]!(words) : undefined
