/**
 * How instruction files are told: what they are and how much they weigh, then what they say, as much of it as fits.
 */
import * as Text from "@dsh/kernel/Text"
import type { Changes, Quoted } from "./Changes.ts"

const preface =
  "Instructions from files of the user and of this project, the general ones first; where two differ, the later one holds. " +
  "They rank below the system prompt and below what the user says in this conversation."

export const wording = (changes: Changes, maxBytes: number): string => {
  const { cut, kept, omitted } = fitting(changes.quoted, maxBytes)
  const parts = [
    ...(kept.length > 0 ? [preface] : []),
    ...kept.map(quote),
    ...(cut === undefined ? [] : [`Only the beginning of ${cut} is quoted; read the file for the rest.`]),
    ...omitted.map((path) => `${path} has instructions, too, but no room was left for them here: read the file.`),
    ...changes.gone.map(({ path, twin }) =>
      twin === undefined
        ? `${path} says nothing any more; what it said does not hold.`
        : `${path} says the same as ${twin} now; what it said before does not hold.`
    )
  ]
  return `<system-reminder>\n${parts.join("\n\n")}\n</system-reminder>`
}

interface Fitting {
  readonly kept: ReadonlyArray<Quoted>
  readonly omitted: ReadonlyArray<string>
  /** The path of the one that is not quoted whole. */
  readonly cut: string | undefined
}

/** The more general a file, the sooner it is left out; the most specific one is shortened last. */
const fitting = (quoted: ReadonlyArray<Quoted>, maxBytes: number): Fitting => {
  let size = quoted.reduce((sum, { text }) => sum + Text.byteLength(text), 0)
  let first = 0
  for (; size > maxBytes && first < quoted.length - 1; first++) size -= Text.byteLength(quoted[first]!.text)
  const kept = quoted.slice(first)
  const omitted = quoted.slice(0, first).map(({ path }) => path)
  const [last] = kept
  if (size <= maxBytes || last === undefined) return { kept, omitted, cut: undefined }
  return { kept: [{ ...last, text: Text.headBytes(last.text, maxBytes) }], omitted, cut: last.path }
}

const quote = ({ isChanged, path, text }: Quoted): string =>
  `${isChanged ? "This file was changed; what it said before does not hold any more.\n" : ""}` +
  `<instructions file="${path.replaceAll('"', "&quot;")}">\n${inert(text.trim())}\n</instructions>`

/** A file cannot end its own quotation and speak with another voice. */
const inert = (text: string): string => text.replaceAll(/<\/(?=system-reminder|instructions)/gi, "<\\/")
