/**
 * Pieces of responses in each dialect, as small as clients have to take them. What a well-behaved server sends is the mock model's task;
 * these are for the rules about bytes.
 */
import type { Subject } from "../AdapterContract.ts"
import type { Dialect } from "../ChatRequest.ts"
import * as Reply from "../Reply.ts"
import { chatCompletions } from "./Samples/ChatCompletions.ts"
import { messages } from "./Samples/Messages.ts"
import { responses } from "./Samples/Responses.ts"

export interface Samples {
  /** One event, as a server writes it. */
  readonly event: (value: unknown) => string
  /** An answer of `text` and nothing else. */
  readonly words: string
  /** An answer with a bit of everything. */
  readonly whole: string
  /** An answer as far as these pieces of text. */
  readonly begun: (...pieces: ReadonlyArray<string>) => string
  /** One that has said "a", then "中", and has called a tool; the call is whole, the answer is not. */
  readonly acted: string
  /** One that has called a tool and said nothing. */
  readonly called: string
  /** An error inside a stream that says no more than this. */
  readonly error: (message: string) => unknown
  /** Errors inside a stream, and what they are. */
  readonly errors: ReadonlyArray<readonly [error: unknown, code: string]>
  /** Events of which much does not fit, and what fits is an answer of "ab" for 3 and 1 tokens. The end is left to the mock. */
  readonly misfits: ReadonlyArray<unknown>
  /** Reasons of finishes, under the names of chat completions, and what becomes of them. */
  readonly finishes: ReadonlyArray<readonly [finish: string | null, ending: string]>
  /** Whether the number of tokens spent on thoughts is told. */
  readonly countsThoughts: boolean
}

export const text = "中文🐋 é"

const samples: Readonly<Record<Dialect, Samples>> = { "chat-completions": chatCompletions, responses, messages }

/** Those of the dialect that the subject speaks. */
export const samplesOf = ({ dialect = "chat-completions" }: Subject): Samples => samples[dialect]

export const cut = (body: string, ending: "end" | "reset" = "end"): Reply.Reply => Reply.sse(body, { ending })
