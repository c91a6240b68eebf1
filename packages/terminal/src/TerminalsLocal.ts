/**
 * `Terminals` in this process: they end with the Layer, with the session that owns them, or when they are closed.
 */
import type * as SandboxMode from "@dsh/sandbox/SandboxMode"
import type { Session } from "@dsh/session/Session"
import { SessionDisposed, Sessions } from "@dsh/session/Sessions"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { TerminalError, Terminals } from "./Terminals.ts"
import type { Backend, Terminal, TerminalErrorCode, TerminalInfo } from "./Terminals.ts"

// The event that is refused while terminals are open is declared there.
export type { SandboxMode }

interface Entry {
  readonly id: string
  readonly backend: Backend
  readonly owner: Session
  readonly name: string | undefined
  readonly cwd: string
  readonly scope: Scope.CloseableScope
  /** Given up while it was opening. */
  readonly dropped: Deferred.Deferred<never, TerminalError>
  terminal: Terminal | undefined
  sending: boolean
}

const failure = (code: TerminalErrorCode, message: string) => new TerminalError({ code, message })

const make = Effect.gen(function* () {
  const sessions = yield* Sessions
  const backends = new Map<string, Backend>()
  const entries = new Map<string, Entry>()
  let count = 0
  let disposing = false

  const of = (owner: Session) => [...entries.values()].filter((entry) => entry.owner === owner)

  const find = (id: string, owner: Session): Effect.Effect<Entry & { readonly terminal: Terminal }, TerminalError> =>
    Effect.suspend(() => {
      const entry = entries.get(id) ?? of(owner).find(({ name }) => name === id)
      if (entry !== undefined && entry.owner !== owner) {
        return failure("FOREIGN_SESSION", `terminal ${id} belongs to another session; open one with terminal_open`)
      }
      if (isOpen(entry)) return Effect.succeed(entry)
      const ids = of(owner).flatMap(({ id, terminal }) => (terminal === undefined ? [] : id))
      const known = ids.length === 0 ? "there are none, open one first" : `there are ${ids.join(", ")}`
      return failure("NO_SESSION", `there is no terminal "${id}"; ${known}`)
    })

  /** Prompt: what resists is killed in the background. */
  const drop = (entry: Entry, code: TerminalErrorCode, why: string) =>
    Effect.suspend(() => {
      entries.delete(entry.id)
      return Effect.zipRight(
        Deferred.fail(entry.dropped, failure(code, why)),
        entry.terminal === undefined ? Effect.void : Scope.close(entry.scope, Exit.void)
      )
    })

  const dropAll = (doomed: () => ReadonlyArray<Entry>, code: TerminalErrorCode, why: string) =>
    Effect.suspend(() =>
      Effect.forEach(doomed(), (entry) => drop(entry, code, why), { discard: true, concurrency: "unbounded" })
    )

  yield* Effect.addFinalizer(() => {
    disposing = true
    return dropAll(() => [...entries.values()], "SERVICE_DISPOSING", "terminals are being shut down")
  })

  const disposed = yield* SessionDisposed
  yield* disposed.use("terminals", (owner) =>
    dropAll(() => of(owner), "OWNER_NOT_LIVE", `session ${owner.id} has ended, and its terminals with it`)
  )

  const info = ({ backend, cwd, id, name, terminal }: Entry): Effect.Effect<TerminalInfo> =>
    Effect.map(terminal?.ended ?? Effect.succeed(undefined), (ended) => ({ id, type: backend.type, name, cwd, ended }))

  const enter = (request: Parameters<Terminals["Type"]["open"]>[0]) =>
    Effect.gen(function* () {
      const { cwd, name, owner, type } = request
      if (disposing) return yield* failure("SERVICE_DISPOSING", "terminals are being shut down")
      const backend = backends.get(type)
      if (backend === undefined) {
        const known = [...backends.keys()].join(", ")
        return yield* failure("NO_BACKEND", `there are no terminals of type "${type}"; types are: ${known || "none"}`)
      }
      if (sessions.get(owner.id) !== owner) return yield* failure("OWNER_NOT_LIVE", `session ${owner.id} is not live`)
      if (name !== undefined && (of(owner).some((entry) => entry.name === name) || entries.has(name))) {
        return yield* failure("DUPLICATE_NAME", `there is a terminal "${name}" already; use it, or another name`)
      }
      const entry: Entry = {
        id: `pty-${++count}`,
        backend,
        owner,
        name,
        cwd,
        scope: yield* Scope.make(),
        dropped: yield* Deferred.make<never, TerminalError>(),
        terminal: undefined,
        sending: false
      }
      entries.set(entry.id, entry)
      yield* Scope.extend(holdMode(owner, entry.id), entry.scope)
      return entry
    })

  return Terminals.of({
    register: (backend) =>
      Effect.acquireRelease(
        Effect.suspend(() => {
          if (backends.has(backend.type)) {
            return failure("DUPLICATE_BACKEND", `there are terminals of type "${backend.type}" already`)
          }
          return Effect.sync(() => void backends.set(backend.type, backend))
        }),
        () => {
          backends.delete(backend.type)
          const why = `there are no terminals of type "${backend.type}" any more`
          return dropAll(() => [...entries.values()].filter((entry) => entry.backend === backend), "NO_BACKEND", why)
        }
      ),
    types: () => [...backends.values()],
    open: (request) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const entry = yield* enter(request)
          const { backend, cwd, dropped, id, owner, scope } = entry
          const terminal = yield* restore(
            Effect.raceFirst(Scope.extend(backend.open({ id, owner, cwd }), scope), Deferred.await(dropped))
          ).pipe(
            Effect.onError((cause) => {
              entries.delete(id)
              return Scope.close(scope, Exit.failCause(cause))
            })
          )
          // It may have been given up in the moment in which it was there.
          if (!entries.has(id)) return yield* Effect.zipRight(Scope.close(scope, Exit.void), Deferred.await(dropped))
          entry.terminal = terminal
          return { ...(yield* info(entry)), startup: terminal.startup }
        })
      ),
    send: (id, owner, text, options = {}) =>
      Effect.flatMap(find(id, owner), (entry) =>
        Effect.acquireUseRelease(
          Effect.suspend(() => {
            if (entry.sending) {
              return failure("SEND_ACTIVE", `something else is being sent to ${entry.id}; wait for its end`)
            }
            return Effect.sync(() => void (entry.sending = true))
          }),
          () => entry.terminal.send(text, options),
          () => Effect.sync(() => void (entry.sending = false))
        )
      ),
    read: (id, owner, offset, lines) => Effect.flatMap(find(id, owner), ({ terminal }) => terminal.read(offset, lines)),
    signal: (id, owner, signal) => Effect.flatMap(find(id, owner), ({ terminal }) => terminal.signal(signal)),
    list: (owner) =>
      Effect.suspend(() =>
        Effect.forEach(
          of(owner).filter(({ terminal }) => terminal !== undefined),
          info
        )
      ),
    close: (id, owner) =>
      Effect.gen(function* () {
        const entry = yield* find(id, owner)
        yield* entry.terminal.terminate
        const last = yield* info(entry)
        yield* drop(entry, "NO_SESSION", "it was closed")
        return last
      })
  })
})

const isOpen = (entry: Entry | undefined): entry is Entry & { readonly terminal: Terminal } =>
  entry?.terminal !== undefined

/** A terminal is confined as its owner was when it was opened, so nobody is to believe that he is confined otherwise now. */
const holdMode = (owner: Session, id: string) =>
  owner.validate(
    ({ type }) =>
      type === "sandbox/mode"
        ? `the sandbox mode cannot be changed while terminal ${id} is open; close it first`
        : undefined,
    { chunks: false }
  )

export const layer: Layer.Layer<Terminals, never, Sessions | SessionDisposed> = Layer.scoped(Terminals, make)
