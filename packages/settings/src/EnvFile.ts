/**
 * The text of a `.env` file: which names it sets, in which line, to what.
 *
 * Node reads single assignments; what Node passes over in silence is an error here, with its line. Nothing is expanded.
 */
import * as Either from "effect/Either"
import { parseEnv } from "node:util"

export interface Assignment {
  readonly name: string
  readonly value: string
  /** Counted from 1. */
  readonly line: number
}

export interface Fault {
  readonly line: number
  readonly reason: string
}

const quotes = ['"', "'", "`"]

/** No reason quotes what is written there: it may be a secret. */
export const parse = (text: string): Either.Either<ReadonlyArray<Assignment>, Fault> => {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/)
  const assignments: Array<Assignment> = []
  for (let i = 0; i < lines.length; i++) {
    const start = i
    const line = lines[i]!
    const fault = (reason: string) => Either.left({ line: start + 1, reason })
    if (/^\s*(#|$)/.test(line)) continue
    const [, name, rest] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=(.*)$/.exec(line) ?? []
    if (name === undefined || rest === undefined) return fault("is no NAME=value")
    let raw = rest.trim()
    const quote = raw.charAt(0)
    if (quotes.includes(quote)) {
      let end = raw.indexOf(quote, 1)
      while (end === -1 && i + 1 < lines.length) {
        raw += `\n${lines[++i]!}`
        end = raw.indexOf(quote, 1)
      }
      if (end === -1) return fault(`begins with ${quote}, which nothing closes`)
      if (!/^\s*(#.*)?$/.test(raw.slice(end + 1))) return fault(`goes on after the ${quote} that closes the value`)
      raw = raw.slice(0, end + 1)
    }
    assignments.push({ name, value: parseEnv(`VALUE=${raw}`)["VALUE"] ?? "", line: start + 1 })
  }
  return Either.right(assignments)
}
