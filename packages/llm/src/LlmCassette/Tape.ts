/**
 * What is on a cassette: for each session, in the order in which they began, the requests it made and what the model answered. One JSON
 * value per line, so that a change of an answer is a change of a few lines.
 */
import type { LlmFailure, StreamChunk } from "@dsh/protocol/StreamChunk"
import * as Either from "effect/Either"

/** One request and its answer. */
export interface Take {
  /** Counts the sessions from 1. */
  readonly session: number
  readonly provider: string
  readonly model: string
  /** How many messages it had. */
  readonly messages: number
  /** The chunks of each network read. */
  readonly reads: ReadonlyArray<ReadonlyArray<StreamChunk>>
  /** How the stream ended, if it failed. */
  readonly failure?: LlmFailure
}

const version = 1

export const header = `${JSON.stringify({ type: "cassette", version })}\n`

/** The lines of one take. */
export const encode = ({ failure, reads, ...request }: Take): string =>
  [
    { type: "request", ...request },
    ...reads.map((chunks) => ({ type: "chunks", chunks })),
    failure === undefined ? { type: "end" } : { type: "failure", failure }
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("")

/** All takes, or the line that makes no sense and why. */
export const decode = (text: string): Either.Either<ReadonlyArray<Take>, string> => {
  const takes: Array<Take> = []
  let open: (Omit<Take, "reads"> & { readonly reads: Array<ReadonlyArray<StreamChunk>> }) | undefined
  const lines = text.split("\n").filter((line) => line.trim() !== "")
  for (const [index, line] of lines.entries()) {
    const bad = (reason: string) => Either.left(`line ${index + 1} ${reason}`)
    let fields: { readonly [key: string]: unknown }
    try {
      fields = JSON.parse(line)
    } catch {
      return bad("is not JSON")
    }
    if (index === 0) {
      if (fields["type"] !== "cassette") return bad("is not the header of a cassette")
      if (fields["version"] !== version)
        return bad(`is of version ${String(fields["version"])}, this build reads ${version}`)
      continue
    }
    switch (fields["type"]) {
      case "request": {
        if (open !== undefined) return bad("begins a request inside of another")
        const { messages, model, provider, session } = fields
        if (typeof provider !== "string" || typeof model !== "string") return bad("names no model")
        if (!Number.isSafeInteger(session) || !Number.isSafeInteger(messages))
          return bad("has no session or no messages")
        open = { session: session as number, provider, model, messages: messages as number, reads: [] }
        break
      }
      case "chunks":
        if (open === undefined || !Array.isArray(fields["chunks"])) return bad("holds chunks that belong to nothing")
        open.reads.push(fields["chunks"] as ReadonlyArray<StreamChunk>)
        break
      case "end":
      case "failure":
        if (open === undefined) return bad("ends a request that did not begin")
        takes.push(fields["type"] === "end" ? open : { ...open, failure: fields["failure"] as LlmFailure })
        open = undefined
        break
      default:
        return bad("is of no known type")
    }
  }
  if (lines.length === 0) return Either.left("there is nothing in it")
  return open === undefined ? Either.right(takes) : Either.left("its last request does not end")
}
