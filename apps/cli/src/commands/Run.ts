/**
 * `dsh run`: one task, one agent, one answer.
 */
import * as Effect from "effect/Effect"
import type { Command } from "../Dispatch.ts"
import * as Environment from "../Environment.ts"
import * as Failure from "../Failure.ts"
import * as Headless from "../Headless.ts"
import type { Run } from "../Request.ts"
import type { SessionStore } from "../SessionStore.ts"
import * as StartUp from "../StartUp.ts"
import * as Task from "../Task.ts"
import * as Work from "../Work.ts"

export const run = ({ checkInvariants, from, model, usage, words }: Run, sessions: SessionStore): Command =>
  Effect.gen(function* () {
    const task = yield* Task.resolve(words)
    const provider = yield* Environment.provider
    const maxRetries = yield* Environment.maxRetries
    const { exitCode } = yield* Work.work({
      task,
      model,
      from,
      cwd: process.cwd(),
      usage: usage || process.stderr.isTTY
    }).pipe(
      Effect.scoped,
      StartUp.provide(Headless.layer({ provider, sessions, checkInvariants, maxRetries })),
      Effect.mapError((error) =>
        error instanceof Failure.Failure ? error : Failure.configuration(error.code, error.message)
      )
    )
    return exitCode
  })
