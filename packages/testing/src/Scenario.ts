/**
 * Scenario files: a script for the mock model that can be written without TypeScript.
 *
 * A `.jsonl` file holds one reply per line, in the order of the requests. A `.json` file is either the same as one array, or an
 * object:
 *
 *   {
 *     "replies": [ … ],                   one per request …
 *     "by": "request",                    … or "conversation": by how many answers the conversation holds, for many at once
 *     "exhausted": "fail",                after the last reply: "fail", "last" or "cycle"
 *     "seed": 7, "weights": { "success": 8, "rate_limit": 1 },       instead of "replies": drawn at random
 *     "strict": true,                     answer 400 to what a strict provider refuses
 *     "apiKey": "…", "models": ["…"]
 *   }
 *
 * A reply is the name of a behaviour, or one of
 *
 *   { "behaviour": "slow_success" }
 *   { "text": "…", "reasoning": "…", "toolCalls": [{ "name": "…", "arguments": { } }], "usage": { }, "finish": "stop" }
 *   { "frames": [ { } ], "done": true }
 *   { "sse": "data: …\n\n", "cuts": [3, 9] }                          or "cuts": "every-byte"
 *   { "status": 503, "headers": { }, "body": { }, "delayMs": 20 }
 *
 * and each may carry `"times": n`; all but the last also `delayMs`, `paceMs`, `keepAlives`, `ending` and `headers` (see `Reply`).
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import * as MockLlm from "./MockLlm.ts"
import * as Document from "./Scenario/Document.ts"
import * as Entries from "./Scenario/Entries.ts"
import * as Script from "./Script.ts"

/** The part of the server's options that a file can set. */
export type Scenario = Pick<MockLlm.Options, "strict" | "apiKey" | "models"> & { readonly script: Script.Script }

/** A scenario that cannot be used. `line` counts from 1; `path` is a JSON path. */
export class ScenarioError extends Data.TaggedError("ScenarioError")<{
  readonly code: "SCENARIO_UNREADABLE" | "SCENARIO_INVALID"
  readonly file: string
  readonly line?: number
  readonly path?: string
  readonly reason: string
}> {
  override get message(): string {
    const line = this.line === undefined ? "" : `:${this.line}`
    const path = this.path === undefined ? "" : ` ${this.path}:`
    return `${this.file}${line}:${path} ${this.reason}`
  }
}

/** Decodes the text of a scenario. `file` names it in errors, and its extension tells lines from a document. */
export const parse = (file: string, text: string): Either.Either<Scenario, ScenarioError> =>
  Either.mapLeft(
    Either.flatMap(Document.read(text, /\.(jsonl|ndjson)$/i.test(file)), Entries.decode),
    (fault) => new ScenarioError({ code: "SCENARIO_INVALID", file, ...fault })
  )

/** Reads and decodes a scenario file. */
export const load = (file: string): Effect.Effect<Scenario, ScenarioError, FileSystem.FileSystem> =>
  FileSystem.FileSystem.pipe(
    Effect.flatMap((fs) => fs.readFileString(file)),
    Effect.mapError((error) => new ScenarioError({ code: "SCENARIO_UNREADABLE", file, reason: error.message })),
    Effect.flatMap((text) => parse(file, text))
  )

export interface ServeOptions {
  readonly port?: number
  readonly host?: string
  /** Without one, every request succeeds. */
  readonly scenario?: string
  /** Overrides what the file says. */
  readonly strict?: boolean
}

/** The server behind `dsh mock-llm`: listens until the Scope closes, and prints nothing. */
export const serveCommand = (
  options: ServeOptions
): Effect.Effect<MockLlm.MockLlm["Type"], ScenarioError | MockLlm.MockLlmError, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function* () {
    const { scenario: file, ...server } = options
    const scenario = file === undefined ? {} : yield* load(file)
    // A server for people outlives any number of requests, so assertions are not kept for ever.
    return yield* MockLlm.make({ ...scenario, ...server, keepBodies: false })
  })
