/**
 * `dsh session fork ID[@SEQ]`: a session that begins with what another has, without a task yet.
 */
import { SessionId } from "@dsh/protocol/Ids"
import * as SessionsService from "@dsh/session/Sessions"
import * as Effect from "effect/Effect"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import { Output } from "../Output.ts"
import * as Sessions from "../Sessions.ts"

interface Source {
  /** As typed; it may name nothing. */
  readonly id: string
  /** Seq of the last event to copy; undefined: all of them. */
  readonly at: number | undefined
}

export const run = ({ at, id }: Source): Command =>
  Sessions.withPersistence(() =>
    Effect.gen(function* () {
      const sessions = yield* SessionsService.Sessions
      const fork = yield* sessions.fork(SessionId(id), at === undefined ? {} : { at })
      yield* sessions.flush(fork.id)
      yield* (yield* Output).print(fork.id)
      return ExitCode.completed
    }).pipe(Effect.scoped, Effect.provide(Sessions.live))
  )
