/**
 * Records what the agents of this composition change in their workspaces, for `Rewind`. Costs nothing until the first change: what it
 * needs is loaded then.
 *
 * It stands on two seams. `Fs` says before it writes a file; `Subprocess` says before it starts a program, and then the workspace is
 * compared before and after. See `Recorder` for whose a change is, `Rules` for what is watched.
 */
import { TurnStopping } from "@dsh/agent/AgentHooks"
import type { Session } from "@dsh/session/Session"
import { Sessions } from "@dsh/session/Sessions"
import { Execute } from "@dsh/tools/ToolHooks"
import { Tools } from "@dsh/tools/Tools"
import { ChangeWitness } from "@dsh/world/ChangeWitness"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { dirname } from "node:path"
import * as FileChange from "./FileChange.ts"
import type { Call, Recorder } from "./FileRecording/Recorder.ts"

export interface Options {
  /** Where contents are kept; absolute. It is made when it is needed. What is beside it is never recorded. */
  readonly root: string
  /** Of one file, in bytes; larger ones are not kept. Default 8 MiB. */
  readonly maxFileBytes?: number
  /** Of everything that is kept. Default 2 GiB. */
  readonly maxBytes?: number
  /** What a workspace may hold for its commands to be watched, in files and folders. Default 20,000. */
  readonly maxEntries?: number
  /** How much of a workspace is kept before its first command, in bytes. Default 256 MiB. */
  readonly maxFirstBytes?: number
}

const recording = (options: Options) =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const sessions = yield* Sessions
    const recorders = new WeakMap<Session, Recorder | undefined>()

    const loaded = yield* Effect.cached(
      Effect.flatMap(
        Effect.promise(() => import("./FileRecording/Opening.ts")),
        (Opening) => Opening.make({ ...options, home: dirname(options.root), scope })
      )
    )

    /** Undefined for a session whose folder is gone. */
    const recorderOf = (session: Session, folder: string) =>
      Effect.flatMap(loaded, (open) =>
        Effect.sync(() => {
          if (!recorders.has(session)) recorders.set(session, open(session, folder, sessions.flush(session.id)))
          return recorders.get(session)
        })
      )

    return { recorderOf, known: (session: Session) => recorders.get(session) }
  })

/** Outside of whatever may replace what a tool does, and inside of its confinement. */
const order = -9000

export const layer = (options: Options) =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const { known, recorderOf } = yield* recording(options)

      const around = yield* Execute
      yield* around.use(
        "file-recording",
        (execution, next) => {
          const { session } = execution
          const folder = session?.header.cwd
          if (session === undefined || folder === undefined) return next(execution)
          let entered: { readonly recorder: Recorder; readonly call: Call } | undefined
          const enter = (recorder: Recorder) => (entered ??= { recorder, call: recorder.enter() })
          const watched = (begin: Effect.Effect<void>) =>
            Effect.provideService(Effect.zipRight(begin, next(execution)), ChangeWitness, {
              file: (path, bytes) =>
                Effect.flatMap(recorderOf(session, folder), (recorder) =>
                  recorder === undefined ? Effect.succeed(Effect.void) : recorder.file(path, bytes)
                ),
              program: (kind) =>
                Effect.flatMap(recorderOf(session, folder), (recorder) => {
                  if (recorder === undefined) return Effect.succeed(() => Effect.void)
                  const isFirst = entered === undefined
                  return recorder.program(kind, enter(recorder).call, isFirst)
                })
            }).pipe(
              Effect.ensuring(
                Effect.suspend(() => (entered === undefined ? Effect.void : entered.recorder.leave(entered.call)))
              )
            )
          const recorder = known(session)
          if (recorder?.isAtWork !== true) return watched(Effect.void)
          // A program of an earlier call is still there, and this one may tell it what to do.
          return Effect.flatMap(Tools, (tools) => {
            if (tools.get(execution.name)?.isParallelSafe(execution.arguments) === true) return watched(Effect.void)
            return watched(
              Effect.suspend(() => {
                enter(recorder)
                return recorder.awaken
              })
            )
          })
        },
        { order }
      )

      const stopping = yield* TurnStopping
      yield* stopping.use("file-recording", ({ agent }) => {
        const recorder = known(agent.session)
        return recorder?.isAtWork === true ? recorder.settle : Effect.void
      })
    })
  ).pipe(Layer.merge(FileChange.events))
