/**
 * Files of tasks: one JSON object per line. Everything that is wrong with one is said at once, with the line and the field.
 */
import * as Nearest from "@dsh/kernel/Nearest"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { Fields } from "./BatchTask.ts"
import type { BatchTask } from "./BatchTask.ts"

/** What is wrong, and where. */
export interface Problem {
  /** From 1. */
  readonly line: number
  /** `task` or `budget.steps`; absent when it is the line as a whole. */
  readonly field?: string
  readonly reason: string
}

export const show = ({ field, line, reason }: Problem): string =>
  field === undefined ? `line ${line}: ${reason}` : `line ${line}: ${field} ${reason}`

export interface Parsed {
  readonly tasks: ReadonlyArray<BatchTask>
  readonly problems: ReadonlyArray<Problem>
}

/** Blank lines are none. */
export const parse = (text: string): Parsed => {
  const tasks: Array<BatchTask> = []
  const problems: Array<Problem> = []
  // An editor may have put a mark there that says how it is encoded.
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/)
  for (const [i, written] of lines.entries()) {
    if (written.trim() === "") continue
    const found = parseLine(written, i + 1)
    if (Either.isRight(found)) tasks.push(found.right)
    else problems.push(...found.left)
  }
  return { tasks, problems: [...problems, ...among(tasks)].sort((a, b) => a.line - b.line) }
}

const parseLine = (written: string, line: number): Either.Either<BatchTask, ReadonlyArray<Problem>> => {
  let value: unknown
  try {
    value = JSON.parse(written)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return Either.left([{ line, reason: `is no JSON (${why}); a task is an object such as {"task": "fix the test"}` }])
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return Either.left([{ line, reason: `is no JSON object; a task is one, such as {"task": "fix the test"}` }])
  }
  return Either.mapBoth(decode(value), {
    onLeft: (error) => misfits(error, line),
    onRight: (fields) => ({ ...fields, id: fields.id ?? `task-${line}`, line })
  })
}

const decode = Schema.decodeUnknownEither(Fields, { onExcessProperty: "error", errors: "all" })

const misfits = (error: ParseResult.ParseError, line: number): ReadonlyArray<Problem> =>
  ParseResult.ArrayFormatter.formatErrorSync(error).map(({ _tag, message, path }) => {
    const field = path.map(String).join(".")
    if (_tag === "Missing") return { line, field, reason: "is missing" }
    if (_tag !== "Unexpected") return { line, ...(field !== "" && { field }), reason: message }
    // As the formatter has it: `is unexpected, expected: "a" | "b"`.
    const known = Array.from(message.matchAll(/"([^"]*)"/g), ([, name = ""]) => name)
    return { line, field, reason: `is no field of it; ${Nearest.suggest(String(path.at(-1)), known)}` }
  })

/** What is wrong with tasks beside each other. */
const among = (tasks: ReadonlyArray<BatchTask>): ReadonlyArray<Problem> => {
  const twice = (field: "id" | "sessionId", why: string) => {
    const seen = new Map<string, number>()
    return tasks.flatMap((task): ReadonlyArray<Problem> => {
      const { [field]: value, line = 0 } = task
      const first = value === undefined ? undefined : seen.get(value)
      if (value !== undefined && first === undefined) seen.set(value, line)
      return first === undefined ? [] : [{ line, field, reason: `is "${value}", as in line ${first}; ${why}` }]
    })
  }
  return [...twice("id", "each task has its own"), ...twice("sessionId", "a session is gone on with by one task")]
}
