/**
 * One shell per session, opened with the first command and again after it was lost; one command at a time.
 */
import type { Session } from "@dsh/session/Session"
import { Terminals } from "@dsh/terminal/Terminals"
import type { TerminalError } from "@dsh/terminal/Terminals"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { resolve } from "node:path"

export interface Shells {
  /** Runs `use` when nobody else uses the shell of the session. */
  readonly alone: <A, E>(owner: Session, use: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Where it is now, when that is not where it began. */
  readonly elsewhere: (owner: Session) => string | undefined
  readonly moved: (owner: Session, folder: string) => void
  /** The id of its terminal. */
  readonly of: (owner: Session) => Effect.Effect<string, TerminalError>
  /** Ends it and returns when nothing is left. */
  readonly reset: (owner: Session) => Effect.Effect<void>
  /** Ends it in the background. */
  readonly abandon: (owner: Session) => Effect.Effect<unknown>
  /** Interrupts what runs; false when the shell did not come back. */
  readonly interrupt: (owner: Session) => Effect.Effect<boolean, TerminalError>
}

interface Shell {
  readonly turns: Effect.Semaphore
  id: string | undefined
  folder: string | undefined
}

// The echo of what is typed, and a history of it, are for people.
const quiet = "stty -echo; set +o history"
const quietMs = 10_000
const interruptMs = 2000

/** Where the shell of a session begins. */
export const folderOf = (owner: Session): string => resolve(owner.header.cwd ?? ".")

export const make = (type: string): Effect.Effect<Shells, never, Terminals | Scope.Scope> =>
  Effect.gen(function* () {
    const terminals = yield* Terminals
    const home = yield* Effect.scope
    const known = new WeakMap<Session, Shell>()

    const shellOf = (owner: Session): Shell => {
      const found = known.get(owner) ?? {
        turns: Effect.unsafeMakeSemaphore(1),
        id: undefined,
        folder: undefined
      }
      known.set(owner, found)
      return found
    }

    /** At once nobody uses it any more. */
    const giveUp = (owner: Session): Effect.Effect<void> => {
      const shell = shellOf(owner)
      const { id } = shell
      shell.id = shell.folder = undefined
      // Somebody else may have closed it.
      return id === undefined ? Effect.void : Effect.ignore(terminals.close(id, owner))
    }
    const reset = (owner: Session) => Effect.suspend(() => giveUp(owner))
    const abandon = (owner: Session) => Effect.suspend(() => Effect.forkIn(giveUp(owner), home))

    const open = (owner: Session) =>
      Effect.gen(function* () {
        const { id } = yield* terminals.open({ type, owner, cwd: folderOf(owner) })
        shellOf(owner).id = id
        yield* terminals.send(id, owner, quiet, { inferIdle: false, timeoutMs: quietMs })
        return id
      }).pipe(Effect.onError(() => abandon(owner)))

    return {
      alone: (owner, use) => Effect.suspend(() => shellOf(owner).turns.withPermits(1)(use)),
      elsewhere: (owner) => shellOf(owner).folder,
      moved: (owner, folder) => {
        shellOf(owner).folder = folder === folderOf(owner) ? undefined : folder
      },
      of: (owner) =>
        Effect.gen(function* () {
          const { id } = shellOf(owner)
          const all = yield* terminals.list(owner)
          if (id !== undefined && all.some((one) => one.id === id && one.ended === undefined)) return id
          yield* reset(owner)
          return yield* open(owner)
        }),
      reset,
      abandon,
      interrupt: (owner) =>
        Effect.gen(function* () {
          const { id } = shellOf(owner)
          if (id === undefined) return false
          const interruption = { signal: "SIGINT", submit: false, inferIdle: false, timeoutMs: interruptMs } as const
          return (yield* terminals.send(id, owner, "", interruption)).atPrompt
        })
    }
  })
