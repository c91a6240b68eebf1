/**
 * JSON text whose values know the line they stand on.
 */
import * as Either from "effect/Either"
import { LineCounter, isNode, parseDocument } from "yaml"

export type Path = ReadonlyArray<string | number>

/** What is wrong and where. */
export interface Fault {
  readonly line: number
  readonly path?: string
  readonly reason: string
}

export interface Document {
  readonly value: unknown
  /** The line, counted from 1, on which the value at `path` or its closest existing ancestor begins. */
  readonly lineOf: (path: Path) => number
}

/** One JSON document, or one JSON value per line as an array; blank lines are skipped. */
export const read = (text: string, lines: boolean): Either.Either<Document, Fault> => {
  const source = text.startsWith("\uFEFF") ? text.slice(1) : text
  return lines ? readLines(source) : readWhole(source)
}

/** `$.replies[2].text` */
export const show = (path: Path): string =>
  path.reduce<string>((out, key) => out + (typeof key === "number" ? `[${key}]` : `.${key}`), "$")

// The YAML reader in its JSON schema accepts what JSON.parse accepts, and unlike it knows where each value stands.
const readWhole = (text: string): Either.Either<Document, Fault> => {
  const counter = new LineCounter()
  const document = parseDocument(text, { schema: "json", lineCounter: counter, prettyErrors: false })
  const [error] = document.errors
  if (error !== undefined) return Either.left({ line: counter.linePos(error.pos[0]).line, reason: error.message })
  const lineOf = (path: Path): number => {
    for (let length = path.length; length >= 0; length--) {
      const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
      if (isNode(node) && node.range) return counter.linePos(node.range[0]).line
    }
    return 1
  }
  return Either.right({ value: document.toJS() as unknown, lineOf })
}

const readLines = (text: string): Either.Either<Document, Fault> => {
  const values: Array<unknown> = []
  const at: Array<number> = []
  for (const [i, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue
    try {
      values.push(JSON.parse(line))
      at.push(i + 1)
    } catch (error) {
      return Either.left({ line: i + 1, reason: error instanceof Error ? error.message : String(error) })
    }
  }
  return Either.right({ value: values, lineOf: ([index]) => (typeof index === "number" ? at[index] : undefined) ?? 1 })
}
