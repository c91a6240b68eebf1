/**
 * Gets a URL as any part of the product would, prints what came of it, and has nothing left to do.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as HttpClientNode from "../../src/HttpClientNode.ts"

const program = Effect.flatMap(HttpClient.get(process.argv[2] ?? ""), (response) => response.text).pipe(
  Effect.merge,
  Effect.map((result) => (typeof result === "string" ? result : result.message)),
  Effect.provide(HttpClientNode.layer)
)

void Effect.runPromise(program).then((line) => process.stdout.write(`${line}\n`))
