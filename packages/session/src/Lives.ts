/**
 * One life per session id, in a Scope of its own that ends with the Scope that asked for it, or at once when it could not begin.
 *
 * The id stays taken until everything of a life is gone, and a life that is ending says so from its first moment: whoever wants to take
 * the session up again can wait for it.
 */
import type { SessionId } from "@dsh/protocol/Ids"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Scope from "effect/Scope"
import { SessionError } from "./SessionError.ts"

export interface Life<A> {
  readonly id: SessionId
  readonly scope: Scope.CloseableScope
  /** What lives; nothing before it can be found. */
  value: A | undefined
}

interface Taken<A> extends Life<A> {
  ending: boolean
  readonly ended: Deferred.Deferred<void>
}

export class Lives<A> {
  readonly #taken = new Map<SessionId, Taken<A>>()

  get(id: SessionId): A | undefined {
    return this.#taken.get(id)?.value
  }

  values(): ReadonlyArray<A> {
    return [...this.#taken.values()].flatMap(({ value }) => (value === undefined ? [] : [value]))
  }

  /** Fails with `SESSION_ALREADY_EXISTS` while the id is taken. */
  refuse(id: SessionId): Effect.Effect<void, SessionError> {
    return Effect.suspend(() => (this.#taken.has(id) ? alreadyLive(id) : Effect.void))
  }

  /** Waits for the end of a life that is ending. One that goes on is not waited for. */
  settled(id: SessionId): Effect.Effect<void> {
    return Effect.suspend(() => {
      const life = this.#taken.get(id)
      return life?.ending === true ? Effect.zipRight(Deferred.await(life.ended), this.settled(id)) : Effect.void
    })
  }

  /** Takes the id and runs `open` in the Scope of the new life. */
  begin<B, E, R>(
    id: SessionId,
    open: (life: Life<A>) => Effect.Effect<B, E, R>
  ): Effect.Effect<B, E | SessionError, Exclude<R, Scope.Scope> | Scope.Scope> {
    return Effect.flatMap(
      Effect.acquireRelease(this.#take(id), (life, exit) => this.#end(life, exit)),
      (life) =>
        Effect.provideService(open(life), Scope.Scope, life.scope).pipe(
          Effect.onError((cause) => this.#end(life, Exit.failCause(cause)))
        )
    )
  }

  /** Ends whatever lives, and waits for it. */
  readonly endAll: Effect.Effect<void> = Effect.suspend(() =>
    Effect.forEach([...this.#taken.values()], (life) => this.#end(life, Exit.void), {
      concurrency: "unbounded",
      discard: true
    })
  )

  #take(id: SessionId): Effect.Effect<Taken<A>, SessionError> {
    return Effect.flatMap(Scope.make(), (scope) => {
      // Looked up and taken in one go: of many that ask at once, one gets it.
      if (this.#taken.has(id)) return alreadyLive(id)
      const life: Taken<A> = { id, scope, value: undefined, ending: false, ended: Deferred.unsafeMake(FiberId.none) }
      this.#taken.set(id, life)
      return Effect.succeed(life)
    })
  }

  #end(life: Taken<A>, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> {
    return Effect.suspend(() => {
      // Two may end it at once: its owner, and `endAll`. Both wait.
      if (life.ending) return Deferred.await(life.ended)
      life.ending = true
      return Effect.ensuring(
        Scope.close(life.scope, exit),
        Effect.suspend(() => {
          if (this.#taken.get(life.id) === life) this.#taken.delete(life.id)
          return Deferred.succeed(life.ended, undefined)
        })
      )
    })
  }
}

const alreadyLive = (id: SessionId) =>
  new SessionError({
    code: "SESSION_ALREADY_EXISTS",
    sessionId: id,
    message: `session ${id} is already live; choose another id or use the live one`
  })
