/**
 * In-memory persistence whose appends can be held and made to fail.
 */
import { PersistenceError } from "@dsh/persistence/PersistenceError"
import * as PersistenceMemory from "@dsh/persistence/PersistenceMemory"
import { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import { Context, Effect, Layer } from "effect"

export class Valve extends Context.Tag("test/Valve")<
  Valve,
  {
    /** Closed: appends wait. */
    readonly gate: Effect.Latch
    failing: boolean
    /** How many entries each attempt to append had. */
    readonly attempts: Array<number>
  }
>() {}

const valve = Layer.effect(
  Valve,
  Effect.map(Effect.makeLatch(true), (gate): Valve["Type"] => ({ gate, failing: false, attempts: [] }))
)

const persistence = Layer.effect(
  SessionPersistence,
  Effect.gen(function* () {
    const inner = yield* SessionPersistence
    const state = yield* Valve
    return SessionPersistence.of({
      ...inner,
      append: (id, entries) =>
        Effect.gen(function* () {
          state.attempts.push(entries.length)
          yield* state.gate.await
          if (state.failing)
            return yield* new PersistenceError({ code: "STORAGE_FAILED", message: "the valve is shut; open it" })
          return yield* inner.append(id, entries)
        })
    })
  })
)

export const layer: Layer.Layer<Valve | SessionPersistence | PersistenceMemory.StoredSessions> = persistence.pipe(
  Layer.provideMerge(Layer.merge(valve, PersistenceMemory.layer))
)
