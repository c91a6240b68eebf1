/**
 * `dsh mock-llm`: the model API on loopback with scripted answers, until a signal ends it.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Scenario from "@dsh/testing/Scenario"
import * as Effect from "effect/Effect"
import type { Command } from "../Dispatch.ts"
import * as Failure from "../Failure.ts"
import { Output } from "../Output.ts"
import type { MockLlm } from "../Request.ts"

/** Prints its base URL once it listens. */
export const run = ({ port, scenario }: MockLlm): Command =>
  Effect.gen(function* () {
    const output = yield* Output
    const server = yield* Effect.mapError(
      Scenario.serveCommand({ port, ...(scenario !== undefined && { scenario }) }),
      (error) => Failure.configuration(error.code, error.message)
    )
    yield* output.print(server.url)
    return yield* Effect.never
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
