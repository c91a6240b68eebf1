/**
 * Whether the sessions can be reached and listed, and which of them were left open by a process that is gone.
 */
import * as PersistenceJsonl from "@dsh/persistence/PersistenceJsonl"
import type { SessionSummary } from "@dsh/persistence/SessionPersistence"
import type { PersistenceError } from "@dsh/persistence/PersistenceError"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { basename, dirname } from "node:path"
import * as Sessions from "../Sessions.ts"
import type { Check } from "./Finding.ts"
import * as Finding from "./Finding.ts"

/** Ids, a few of them. */
const some = (ids: ReadonlyArray<string>): string =>
  ids.length <= 3 ? ids.join(", ") : `${ids.slice(0, 3).join(", ")} and ${ids.length - 3} more`

const isAbandoned = ({ path }: SessionSummary): Effect.Effect<boolean, never, FileSystem.FileSystem> =>
  path === undefined
    ? Effect.succeed(false)
    : Effect.map(
        // Whoever cannot look finds out when it is opened.
        Effect.orElseSucceed(PersistenceJsonl.ownerOf(path), () => undefined),
        (owner) => owner !== undefined && !owner.isAlive
      )

const broken = (warning: PersistenceError): Finding.Finding => {
  const { path, sessionId } = warning
  // A log is in a folder that is called like its session.
  const id = sessionId ?? (path === undefined ? undefined : basename(dirname(path)))
  const { message } = Finding.because("warn", warning)
  return Finding.warn(message, `"dsh session check ${id ?? "ID"}" tells more`)
}

export const check: Check = () =>
  Sessions.withPersistence((persistence) => persistence.list).pipe(
    Effect.flatMap(({ sessions, warnings }) =>
      Effect.gen(function* () {
        const abandoned = yield* Effect.filter(sessions, isAbandoned, { concurrency: 8 })
        const ids = abandoned.map(({ header }) => header.id)
        const [first, ...others] = [
          ...warnings.map(broken),
          ...(ids.length === 0
            ? []
            : [
                Finding.warn(
                  `${some(ids)}: left open by a process that is gone`,
                  `"dsh session check ${ids[0]}" tells whether anything is missing; the next run that goes on with it takes over`
                )
              ])
        ]
        const count = sessions.length === 1 ? "1 session" : `${sessions.length} sessions`
        return first === undefined ? Finding.ok(count) : Finding.all([first, ...others])
      })
    ),
    Effect.provide(NodeFileSystem.layer),
    Effect.catchAll((error) => Effect.succeed(Finding.because("fail", error)))
  )
