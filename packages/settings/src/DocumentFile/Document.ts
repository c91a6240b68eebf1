/**
 * YAML text whose values know where they stand.
 */
import * as Either from "effect/Either"
import { LineCounter, isNode, parseDocument } from "yaml"
import type { Op } from "../DocumentFile.ts"
import type { Path } from "../Settings.ts"

/** Counted from 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

export interface Fault extends Place {
  readonly reason: string
}

export interface Document {
  readonly value: Readonly<Record<string, unknown>>
  /** Where the value at `path`, or the nearest one around it, begins. */
  readonly placeOf: (path: Path) => Place
  /** The text after some changes: comments, order and everything else stay. Or why they cannot be made. */
  readonly edited: (ops: ReadonlyArray<Op>, json: boolean) => Either.Either<string, string>
}

const attempt = <A>(what: () => A): Either.Either<A, string> =>
  Either.try({ try: what, catch: (error) => (error instanceof Error ? error.message : String(error)) })

/** JSON has no comments to keep, and YAML would write lists that JSON does not know. */
const printed = (
  document: { readonly toString: (options: object) => string; readonly toJS: () => unknown },
  json: boolean
) => (json ? `${JSON.stringify(document.toJS(), null, 2)}\n` : document.toString({ lineWidth: 0 }))

export const read = (text: string): Either.Either<Document, Fault> => {
  const counter = new LineCounter()
  const at = (offset: number): Place => {
    const { col, line } = counter.linePos(offset)
    return { line, column: col }
  }
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false, uniqueKeys: true })
  const [error] = [...document.errors, ...document.warnings]
  if (error !== undefined) return Either.left({ ...at(error.pos[0]), reason: error.message })
  // A few aliases can stand for more than fits into memory; the reader refuses those.
  const plain = attempt((): unknown => document.toJS())
  if (Either.isLeft(plain)) return Either.left({ ...at(0), reason: plain.left })
  const value = plain.right
  const edited = (ops: ReadonlyArray<Op>, json: boolean): Either.Either<string, string> =>
    attempt(() => {
      // An edit must not show in what was read.
      const copy = document.clone()
      for (const { path, ...op } of ops) {
        // A key that was left empty is in the way of what belongs under it.
        const empty = path.findIndex(
          (_, i) => i > 0 && copy.hasIn(path.slice(0, i)) && copy.getIn(path.slice(0, i)) === null
        )
        if (empty !== -1) copy.deleteIn(path.slice(0, empty))
        if (op.op === "set") copy.setIn(path, op.value)
        else if (copy.hasIn(path)) copy.deleteIn(path)
      }
      const edited = printed(copy, json)
      return text.includes("\r\n") ? edited.replaceAll("\n", "\r\n") : edited
    })
  if (value === null || value === undefined) return Either.right({ value: {}, placeOf: () => at(0), edited })
  if (typeof value !== "object" || Array.isArray(value)) {
    return Either.left({ ...at(0), reason: "the document is no map of sections" })
  }
  return Either.right({
    value: value as Readonly<Record<string, unknown>>,
    edited,
    placeOf: (path) => {
      for (let length = path.length; length > 0; length--) {
        const node: unknown = document.getIn(path.slice(0, length), true)
        if (isNode(node) && node.range) return at(node.range[0])
      }
      return at(0)
    }
  })
}
