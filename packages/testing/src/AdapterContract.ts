/**
 * What every `LlmAdapter` over HTTP must do, as programs that any test runner can run against the mock server:
 *
 *   for (const { name, run } of AdapterContract.casesFor(subject)) {
 *     it.scopedLive(name, () => run(subject))
 *   }
 *
 * An adapter is finished when all of them succeed. A rule holds in every dialect and for every adapter, unless it says which alone can
 * keep or break it, and why. Every answer is also held against the grammar of chunks, whatever the case is about.
 *
 * The suite was seen to fail for seventy things broken on purpose, one at a time. Among them: a stream that ends without [DONE] is an
 * answer; CR is no line end; characters are decoded per read; cut arguments are sent back as they are; an id is used twice; cached tokens
 * are counted twice; an empty answer is a success; comments count as content; interruption leaves the socket open; a key comes back in a
 * message; leaked markup is shown, run when it is quoted, or lost when it is only talked about.
 */
import type { LlmAdapter } from "@dsh/llm/LlmAdapter"
import type { LlmError } from "@dsh/llm/LlmError"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { answering } from "./AdapterContract/Answering.ts"
import type { Failure } from "./AdapterContract/Ask.ts"
import { calling } from "./AdapterContract/Calling.ts"
import { counting } from "./AdapterContract/Counting.ts"
import { failing } from "./AdapterContract/Failing.ts"
import { framing } from "./AdapterContract/Framing.ts"
import { leaking } from "./AdapterContract/Leaking.ts"
import { replaying } from "./AdapterContract/Replaying.ts"
import { requesting } from "./AdapterContract/Requesting.ts"
import { waiting } from "./AdapterContract/Waiting.ts"
import type { Dialect } from "./ChatRequest.ts"

export { ContractViolation } from "./AdapterContract/Expect.ts"

/** In milliseconds; what is absent is the adapter's own. */
export interface Timeouts {
  readonly streamIdleTimeoutMs?: number
  readonly contentIdleTimeoutMs?: number
  readonly queueTimeoutMs?: number
}

/** Where the provider is. */
export interface Place {
  readonly url: string
  readonly apiKey: Redacted.Redacted
  readonly timeouts: Timeouts
}

export type Body = "wire" | "neutral"

export interface Subject {
  /** A model that calls may name. Where reasoning has to be asked for, the adapter does so by default. */
  readonly model: string
  /** The wire format it speaks. Default `chat-completions`. */
  readonly dialect?: Dialect
  /** Whether the rendered bytes are the ones it sends, or what a library makes its own of. Default `wire`. */
  readonly body?: Body
  /** The adapter, with the provider at `place`. Its first route is used. */
  readonly make: (place: Place) => Effect.Effect<LlmAdapter, LlmError, Scope.Scope>
}

export interface ContractCase {
  /** The rule, as a sentence. */
  readonly name: string
  /** Where the rule makes sense at all. Default: everywhere. */
  readonly dialects?: ReadonlyArray<Dialect>
  readonly body?: Body
  readonly run: (subject: Subject) => Effect.Effect<void, Failure, Scope.Scope>
}

const cases: ReadonlyArray<ContractCase> = [
  ...requesting,
  ...replaying,
  ...answering,
  ...counting,
  ...framing,
  ...calling,
  ...failing,
  ...waiting,
  ...leaking
]

/** The rules that hold for a subject. */
export const casesFor = ({ body = "wire", dialect = "chat-completions" }: Subject): ReadonlyArray<ContractCase> =>
  cases.filter((rule) => rule.dialects?.includes(dialect) !== false && (rule.body ?? body) === body)
