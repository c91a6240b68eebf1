/**
 * The lines of a journal.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { BatchError } from "../BatchError.ts"
import { BatchResult } from "../BatchResult.ts"

const About = Schema.Struct({
  /** Names the batch: its folders, if it has some, are under it. */
  batch: Schema.String,
  /** What the tasks work in. */
  isolate: Schema.Literal("none", "copy", "worktree"),
  /** Where the folders of tasks are taken against. */
  cwd: Schema.String
})

/** The beginning of a journal. */
export type About = typeof About.Type

const Batch = Schema.Struct({ type: Schema.Literal("batch"), version: Schema.Literal(1), ...About.fields })

const Started = Schema.Struct({
  type: Schema.Literal("started"),
  time: Schema.Number,
  id: Schema.String,
  digest: Schema.String,
  attempt: Schema.Number,
  sessionId: Schema.String,
  messageId: Schema.String,
  from: Schema.Number
})

const Finished = Schema.Struct({
  type: Schema.Literal("finished"),
  time: Schema.Number,
  digest: Schema.String,
  result: BatchResult
})

const Line = Schema.Union(Batch, Started, Finished)

export type Line = typeof Line.Type

type Event = Exclude<Line, { readonly type: "batch" }>

const decode = Schema.decodeUnknownEither(Schema.parseJson(Line))

export const show = (line: Line): string => `${JSON.stringify(line)}\n`

/** `text` ends with a newline, or is empty. */
export const read = (
  text: string,
  file: string
): Effect.Effect<{ readonly about: About | undefined; readonly lines: ReadonlyArray<Event> }, BatchError> =>
  Effect.suspend(() => {
    const lines: Array<Event> = []
    let about: About | undefined
    const corrupt = (line: number, reason: string) =>
      new BatchError({
        code: "JOURNAL_CORRUPT",
        message: `${file}:${line} ${reason}; put the line right, or begin a batch with another output`
      })
    for (const [i, written] of text.split("\n").entries()) {
      if (written === "") continue
      const line = decode(written)
      if (Either.isLeft(line)) return corrupt(i + 1, `is no line of a journal: ${firstIssue(line.left)}`)
      if ((line.right.type === "batch") !== (i === 0)) return corrupt(i + 1, "is not where it belongs")
      if (line.right.type === "batch") {
        const { type: _, version: __, ...rest } = line.right
        about = rest
      } else lines.push(line.right)
    }
    return Effect.succeed({ about, lines })
  })

const firstIssue = (error: ParseResult.ParseError): string => {
  const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
  return issue === undefined ? error.message : [...issue.path.map(String), issue.message].join(" ")
}
