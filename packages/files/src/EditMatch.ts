/**
 * Where an edit applies and what exactly it changes. Pure: text in, replacements out.
 *
 * First the text is looked for as it is, line ends aside. If it is not there, one place that reads the same up to spaces and tabs is
 * accepted, and the replacement gets the indentation of that place. Anything that leaves a choice is refused: a wrong edit costs more
 * than a question.
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as LineEnds from "./EditMatch/LineEnds.ts"
import type { Normalized } from "./EditMatch/LineEnds.ts"
import * as Tolerant from "./EditMatch/Tolerant.ts"

export interface Request {
  readonly oldText: string
  readonly newText: string
  readonly replaceAll: boolean
}

/** Puts `text` in place of what is from `start` to `end`. */
export interface Replacement {
  readonly start: number
  readonly end: number
  readonly text: string
}

export interface Plan {
  /** In ascending order, without overlap, and never longer than the change itself. */
  readonly replacements: ReadonlyArray<Replacement>
  /** Where each match begins. */
  readonly starts: ReadonlyArray<number>
  /** The numbers, from 1, of the lines where the matches begin. */
  readonly lines: ReadonlyArray<number>
  /** The whitespace differed. */
  readonly tolerant: boolean
}

export class EditRefused extends Data.TaggedError("EditRefused")<{
  readonly code: "INVALID_ARGS" | "FS_EDIT_NOT_FOUND" | "FS_AMBIGUOUS_EDIT"
  readonly message: string
}> {}

/** What is wrong with a request whatever the file. */
export const check = ({ newText, oldText }: Request): Either.Either<void, EditRefused> => {
  if (oldText === "") return refuse("INVALID_ARGS", "old_string is empty; use write to create a file")
  return LineEnds.normalize(oldText).text === LineEnds.normalize(newText).text
    ? refuse("INVALID_ARGS", "old_string and new_string are the same")
    : Either.void
}

export const plan = (text: string, request: Request): Either.Either<Plan, EditRefused> =>
  Either.flatMap(check(request), () => match(text, request))

const match = (text: string, request: Request): Either.Either<Plan, EditRefused> => {
  const file = LineEnds.normalize(text)
  const oldText = LineEnds.normalize(request.oldText).text
  const newText = LineEnds.normalize(request.newText).text

  // Places that overlap are a choice too; only when all of them are wanted does each begin after the one before.
  const exact = occurrences(file.text, oldText, request.replaceAll ? oldText.length : 1)
  if (exact.length > 1 && !request.replaceAll) return ambiguous(file, exact, "set replace_all to change all of them")
  if (exact.length > 0) {
    return Either.right(
      planOf(
        file,
        exact.map((start) => ({ start, end: start + oldText.length, text: newText })),
        false
      )
    )
  }

  const similar = Tolerant.find(file.text, oldText)
  const [only] = similar
  if (only === undefined) return refuse("FS_EDIT_NOT_FOUND", "old_string does not occur in it")
  if (similar.length > 1) {
    return ambiguous(
      file,
      similar.map(({ start }) => start),
      "copy the whitespace exactly",
      "up to whitespace "
    )
  }
  const rewritten = Tolerant.rewrite(file.text, only, oldText, newText)
  if (rewritten === file.text.slice(only.start, only.end)) {
    return refuse(
      "INVALID_ARGS",
      "old_string and new_string differ in whitespace only, and not in a way that changes the file"
    )
  }
  return Either.right(planOf(file, [{ ...only, text: rewritten }], true))
}

export const apply = (text: string, { replacements }: Plan): string => {
  const pieces: Array<string> = []
  let at = 0
  for (const { end, start, text: piece } of replacements) {
    pieces.push(text.slice(at, start), piece)
    at = end
  }
  return pieces.join("") + text.slice(at)
}

const refuse = (code: EditRefused["code"], message: string) => Either.left(new EditRefused({ code, message }))

const occurrences = (text: string, needle: string, step: number): ReadonlyArray<number> => {
  const starts: Array<number> = []
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + step)) starts.push(at)
  return starts
}

const planOf = (file: Normalized, matches: ReadonlyArray<Replacement>, tolerant: boolean): Plan => ({
  replacements: matches.map((match) => onlyTheChange(file, match)),
  starts: matches.map(({ start }) => LineEnds.toOriginal(file, start)),
  lines: lineNumbers(
    file.text,
    matches.map(({ start }) => start)
  ),
  tolerant
})

// What old and new text share at both ends is not touched, so the line ends in there stay whatever they are.
const onlyTheChange = (file: Normalized, { end, start, text }: Replacement): Replacement => {
  const length = Math.min(end - start, text.length)
  let head = 0
  while (head < length && file.text[start + head] === text[head]) head++
  let tail = 0
  while (tail < length - head && file.text[end - 1 - tail] === text[text.length - 1 - tail]) tail++
  return {
    start: LineEnds.toOriginal(file, start + head),
    end: LineEnds.toOriginal(file, end - tail),
    text: LineEnds.localize(file, start + head, end - tail, text.slice(head, text.length - tail))
  }
}

const lineNumbers = (text: string, starts: ReadonlyArray<number>): ReadonlyArray<number> => {
  let line = 1
  let at = text.indexOf("\n")
  return starts.map((start) => {
    for (; at !== -1 && at < start; at = text.indexOf("\n", at + 1)) line++
    return line
  })
}

const listedLines = 20

const ambiguous = (file: Normalized, starts: ReadonlyArray<number>, remedy: string, how = "") => {
  const lines = lineNumbers(file.text, starts)
  const more = lines.length > listedLines ? ` and ${lines.length - listedLines} more` : ""
  return refuse(
    "FS_AMBIGUOUS_EDIT",
    `old_string occurs ${how}${lines.length} times, at lines ${lines.slice(0, listedLines).join(", ")}${more}; ` +
      `add surrounding lines to make it unique, or ${remedy}`
  )
}
