/**
 * `Rewind` over the session logs and the files of this machine.
 *
 * A rewind is logged before a file is touched, as any change of a tool is: with what is there now, which is kept first. So it can be taken
 * back, and whoever is killed in the middle of it calls it again: what is done is done, and the rest is as the log says that it was.
 */
import * as Ids from "@dsh/kernel/Ids"
import { eventAt, isRun, sizeOf } from "@dsh/protocol/ChunkRun"
import { MessageId } from "@dsh/protocol/Ids"
import type { SessionId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import type { Session } from "@dsh/session/Session"
import type { SessionError } from "@dsh/session/SessionError"
import { SessionRead, Sessions } from "@dsh/session/Sessions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { realpathSync } from "node:fs"
import type { FileState } from "./FileChange.ts"
import * as FileStates from "./FileStates.ts"
import * as History from "./History.ts"
import { Rewind, RewindError } from "./Rewind.ts"
import type { FileDiff, Outcome, Plan, Point, Request } from "./Rewind.ts"
import * as Patch from "./RewindLocal/Patch.ts"
import * as Planning from "./RewindLocal/Planning.ts"
import * as Restoring from "./RewindLocal/Restoring.ts"
import * as Snapshots from "./Snapshots.ts"

export interface Options {
  /** Where contents are kept; absolute. */
  readonly root: string
}

interface Log {
  readonly header: SessionHeader
  readonly events: ReadonlyArray<SessionEvent>
}

export const make = ({ root }: Options): Effect.Effect<Rewind["Type"], never, Sessions | SessionRead> =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const reading = yield* SessionRead
    const snapshots = Snapshots.make(root)

    const read = (id: SessionId): Effect.Effect<Log, RewindError> =>
      Effect.suspend(() => {
        const live = sessions.get(id)
        if (live !== undefined) return Effect.succeed(logOf(live))
        return Effect.flatMap(Effect.mapError(reading.run(id), failed), (stored) =>
          Option.isNone(stored)
            ? new RewindError({
                code: "SESSION_NOT_FOUND",
                message: `there is no session ${id}; list the sessions to see which ones there are`
              })
            : Effect.succeed({
                header: stored.value.header,
                events: stored.value.entries.flatMap((entry) =>
                  isRun(entry) ? Array.from({ length: sizeOf(entry) }, (_, n) => eventAt(entry, n)) : [entry]
                )
              })
        )
      })

    const planned = ({ events, header }: Log, request: Request): Effect.Effect<Plan, RewindError> =>
      Effect.gen(function* () {
        const { conversation, files, force = false, session, turn } = request
        const history = History.of(events)
        const upTo = yield* endOf(history, session, turn)
        const folder = yield* attempt(() => (header.cwd === undefined ? undefined : realpathSync(header.cwd)))
        const after = conversation
          ? History.visibleAfter(history.turns, events, { turn, events: upTo })
          : history.visible
        const numbers = history.turns.map((one) => one.turn)
        return {
          session,
          folder,
          turn,
          files:
            files && folder !== undefined
              ? yield* attempt(() => Planning.plan(history, { folder, events: upTo, force }, snapshots))
              : [],
          hidden: numbers.filter((one) => history.visible.has(one) && !after.has(one)),
          shown: numbers.filter((one) => !history.visible.has(one) && after.has(one))
        }
      })

    const rewindLive = (session: Session, request: Request): Effect.Effect<Outcome, RewindError> =>
      Effect.gen(function* () {
        const log = logOf(session)
        const history = History.of(log.events)
        if (history.turns.some(({ end }) => end === undefined)) {
          return yield* new RewindError({
            code: "OPEN_TURN",
            message: `session ${session.id} is in the middle of a turn; wait for its end, or stop it`
          })
        }
        const plan = yield* planned(log, request)
        const undo = request.conversation ? history.at.conversation : history.at.files
        const steps = plan.files.filter(({ obstacle }) => obstacle === undefined)
        let restored: Restoring.Restored = { restored: [], failed: [] }
        const { folder } = plan
        if (steps.length > 0 && folder !== undefined) {
          yield* attempt(() => {
            for (const { from, path } of steps) if (from.kind === "file") snapshots.putFile(`${folder}/${path}`)
            snapshots.keep(
              session.id,
              steps.flatMap(({ from, to }) => [...hashOf(from), ...hashOf(to)])
            )
          })
          const changes = steps.map(({ from, path, to }) => ({ path, before: from, after: to }))
          yield* session.append("files/changed", { by: { kind: "rewind", turn: request.turn }, changes })
          yield* sessions.flush(session.id)
          restored = yield* attempt(() => Restoring.restore(folder, steps, snapshots))
        }
        if (request.conversation) yield* goBack(session, request.turn, yield* endOf(history, session.id, request.turn))
        else if (restored.restored.length > 0) yield* tell(session, request.turn, restored.restored)
        yield* sessions.flush(session.id)
        return { ...plan, ...restored, undo }
      }).pipe(
        Effect.mapError((error) => (error instanceof RewindError ? error : failed(error))),
        Effect.uninterruptible
      )

    return Rewind.of({
      points: (id) =>
        Effect.map(read(id), ({ events }) => {
          const { changes, turns, visible } = History.of(events)
          return turns.map(({ prompt, time, turn }): Point => {
            const changed = History.byPath(changes, (change) => change.turn === turn && change.by.kind !== "rewind")
            return { turn, time, prompt, files: [...changed.keys()], isVisible: visible.has(turn) }
          })
        }),
      diff: (id, turn) =>
        Effect.flatMap(read(id), ({ events }) =>
          Effect.gen(function* () {
            const history = History.of(events)
            if (turn !== undefined) yield* endOf(history, id, turn, true)
            return yield* attempt(() => diffOf(history, turn, snapshots))
          })
        ),
      plan: (request) => Effect.flatMap(read(request.session), (log) => planned(log, request)),
      rewind: (request) =>
        Effect.suspend(() => {
          const live = sessions.get(request.session)
          if (live !== undefined) return rewindLive(live, request)
          return Effect.scoped(
            Effect.flatMap(Effect.mapError(sessions.resume(request.session), failed), (session) =>
              rewindLive(session, request)
            )
          )
        })
    })
  })

export const layer = (options: Options): Layer.Layer<Rewind, never, Sessions | SessionRead> =>
  Layer.effect(Rewind, make(options))

// -----------------------------------------------------------------------------
// the conversation
// -----------------------------------------------------------------------------

const goBack = (session: Session, turn: number, events: number): Effect.Effect<void, SessionError> =>
  Effect.gen(function* () {
    for (const target of ["next-turn", "next-step"] as const) {
      const removedCount = session.inbox[target].length
      if (removedCount === 0) continue
      yield* session.append("agent/inbox/spliced", {
        target,
        start: 0,
        removedCount,
        inserted: [],
        outcome: "canceled"
      })
    }
    yield* session.append("session/rewound", { turn, events })
  })

const mostNamed = 50

/** The model goes on with a conversation in which these files are something else. */
const tell = (session: Session, turn: number, paths: ReadonlyArray<string>): Effect.Effect<void, SessionError> =>
  Effect.gen(function* () {
    const when = turn === 0 ? "before the first turn" : `at the end of turn ${turn}`
    const named = paths.slice(0, mostNamed).join(", ")
    const more = paths.length > mostNamed ? ` and ${paths.length - mostNamed} more` : ""
    const text = `The user has put these files back to what they were ${when}: ${named}${more}. Read them again before you rely on them.`
    const source = { plugin: "rewind", form: "notice", summary: `files are what they were ${when}` } as const
    yield* session.append("user/message", Message.fromPlugin(MessageId(yield* Ids.fresh), text, source))
  })

// -----------------------------------------------------------------------------
// parts
// -----------------------------------------------------------------------------

const logOf = (session: Session): Log => ({ header: session.header, events: [...session.range(0)] })

const endOf = (
  history: History.History,
  id: SessionId,
  turn: number,
  openToo = false
): Effect.Effect<number, RewindError> => {
  const end = History.endOf(history, turn)
  if (end !== undefined) return Effect.succeed(end)
  const last = history.turns.at(-1)
  if (openToo && last?.turn === turn) return Effect.succeed(Number.POSITIVE_INFINITY)
  const numbers = last === undefined ? "it has none yet" : `its turns are numbered from 1 to ${last.turn}`
  return last?.turn === turn
    ? new RewindError({ code: "OPEN_TURN", message: `turn ${turn} of session ${id} is still running` })
    : new RewindError({ code: "REWIND_NO_SUCH_TURN", message: `session ${id} has no turn ${turn}; ${numbers}` })
}

const diffOf = (
  { changes }: History.History,
  turn: number | undefined,
  snapshots: Snapshots.Snapshots
): ReadonlyArray<FileDiff> => {
  const bytesOf = (state: FileState) => (state.kind === "file" ? snapshots.get(state.sha256) : undefined)
  const wanted = History.byPath(changes, (change) =>
    turn === undefined ? true : change.turn === turn && change.by.kind !== "rewind"
  )
  return [...wanted].flatMap(([path, some]) => {
    const before = some[0].before
    const after = some[some.length - 1]!.after
    if (FileStates.equal(before, after)) return []
    const [a, b] = [before, after].map((state) => ({ state, bytes: bytesOf(state) }))
    return [{ path, before, after, patch: Patch.of(path, a!, b!) }]
  })
}

const hashOf = (state: FileState): ReadonlyArray<string> => (state.kind === "file" ? [state.sha256] : [])

const attempt = <A>(run: () => A): Effect.Effect<A, RewindError> =>
  Effect.try({
    try: run,
    catch: (cause) =>
      new RewindError({
        code: "REWIND_FAILED",
        message: `the files could not be looked at or kept: ${cause instanceof Error ? cause.message : String(cause)}`,
        cause
      })
  })

const failed = (cause: SessionError): RewindError => {
  const code = cause.code === "SESSION_NOT_FOUND" || cause.code === "SESSION_IN_USE" ? cause.code : "REWIND_FAILED"
  return new RewindError({ code, message: cause.message, cause })
}
