/**
 * The stored sessions, for the commands that look at them.
 */
import { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import type { StoredSession } from "@dsh/persistence/StoredSession"
import * as WriteBehind from "@dsh/persistence/WriteBehind"
import { SessionId } from "@dsh/protocol/Ids"
import * as SandboxMode from "@dsh/sandbox/SandboxMode"
import * as SessionsService from "@dsh/session/Sessions"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Failure from "./Failure.ts"
import { Output } from "./Output.ts"
import * as SessionStore from "./SessionStore.ts"

const layer = Layer.provide(SessionStore.layer, Layer.merge(NodeFileSystem.layer, NodePath.layer))

/** Sessions that can be added to. Whatever no reader may skip has to be known to whoever opens one. */
export const live = Layer.merge(WriteBehind.layer, SandboxMode.events).pipe(Layer.provideMerge(SessionsService.layer))

/** Uses the persistence under the home folder. */
export const withPersistence = <A, E extends { readonly code: string; readonly message: string }, R>(
  use: (persistence: SessionPersistence["Type"]) => Effect.Effect<A, E, R>
): Effect.Effect<A, Failure.Failure, Exclude<R, SessionPersistence>> =>
  Effect.flatMap(SessionPersistence, use).pipe(
    Effect.provide(layer),
    Effect.mapError((error) => (error instanceof Failure.Failure ? error : Failure.fromError(error)))
  )

/** As they are listed, last used first. What cannot be listed is reported and stops nothing. */
export const list = (persistence: SessionPersistence["Type"]) =>
  Effect.gen(function* () {
    const output = yield* Output
    const { sessions, warnings } = yield* persistence.list
    for (const warning of warnings) output.failure(warning)
    if (sessions.length === 0) output.notice("there are no sessions yet")
    return sessions
  })

/** Reads one session; notes on stderr what could not be read of it. */
export const load = (id: string): Effect.Effect<StoredSession, Failure.Failure, Output> =>
  Effect.tap(
    withPersistence((persistence) => persistence.load(SessionId(id))),
    ({ notices }) =>
      Effect.map(Output, (output) => {
        for (const notice of notices) output.notice(notice)
        if (notices.length > 0) output.notice(`"dsh session check ${id}" tells more`)
      })
  )
