/**
 * The part of recording that is loaded with the first change.
 */
import type { Session } from "@dsh/session/Session"
import type { SessionError } from "@dsh/session/SessionError"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { realpathSync } from "node:fs"
import * as Snapshots from "../Snapshots.ts"
import * as Claims from "./Claims.ts"
import { Recorder } from "./Recorder.ts"

export interface Options {
  readonly root: string
  readonly home: string
  readonly scope: Scope.Scope
  readonly maxFileBytes?: number
  readonly maxBytes?: number
  readonly maxEntries?: number
  readonly maxFirstBytes?: number
}

type Open = (session: Session, folder: string, flush: Effect.Effect<void, SessionError>) => Recorder | undefined

export const make = (options: Options): Effect.Effect<Open> =>
  Effect.gen(function* () {
    const { maxBytes, maxEntries = 20_000, maxFileBytes, maxFirstBytes = 256 * 1024 * 1024, root, scope } = options
    const snapshots = Snapshots.make(root, {
      maxFileBytes: maxFileBytes ?? Snapshots.defaults.maxFileBytes,
      maxBytes: maxBytes ?? Snapshots.defaults.maxBytes
    })
    if (snapshots.isSweepDue()) {
      const sweeping = Effect.tryPromise(() => snapshots.sweep())
      yield* Effect.forkIn(
        Effect.catchAll(sweeping, (error) => Effect.logWarning("old snapshots could not be removed", error.error)),
        scope
      )
    }
    const claims = Claims.make()
    const home = real(options.home) ?? options.home
    return (session, folder, flush) => {
      const place = real(folder)
      if (place === undefined) return undefined
      return new Recorder({ session, folder: place, home, snapshots, claims, flush, scope, maxEntries, maxFirstBytes })
    }
  })

const real = (path: string): string | undefined => {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
