/**
 * `Jobs` in this process: they end with the Layer, with their session's agent, or by themselves.
 */
import { AgentDisposed } from "@dsh/agent/AgentHooks"
import * as Hook from "@dsh/kernel/Hook"
import type { Session } from "@dsh/session/Session"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { JobError, JobSettled, Jobs, isOver } from "./Jobs.ts"
import type { Ended, Job, JobSpec, JobStatus, Work } from "./Jobs.ts"

export interface Options {
  /** How many of a session may run at once. Default 10. */
  readonly maxPerSession?: number
}

/** More of those that are over are forgotten, oldest first; per session. */
const remembered = 50

interface Entry {
  readonly session: Session | undefined
  readonly scope: Scope.CloseableScope
  readonly work: Work
  readonly settled: Deferred.Deferred<void>
  job: Job
  /** Somebody has seen that it is over, or wanted it to be. */
  told: boolean
  /** It is ended, and why; however it takes that, it was killed. */
  killed: { readonly reason: string | undefined } | undefined
}

export const make = ({ maxPerSession = 10 }: Options = {}): Effect.Effect<
  Jobs["Type"],
  never,
  JobSettled | Scope.Scope
> =>
  Effect.gen(function* () {
    const home = yield* Effect.scope
    const settled = yield* JobSettled
    const entries = new Map<string, Entry>()
    const counts = new Map<string, number>()

    const of = (session: Session | undefined) => [...entries.values()].filter((entry) => entry.session === session)

    const find = (id: string, session: Session | undefined): Effect.Effect<Entry, JobError> =>
      Effect.suspend(() => {
        const entry = entries.get(id)
        if (entry !== undefined && (entry.session === undefined || entry.session === session))
          return Effect.succeed(entry)
        const known = of(session).map(({ job }) => job.id)
        return Effect.fail(
          entry === undefined
            ? new JobError({
                code: "JOB_NOT_FOUND",
                message: `there is no job "${id}"; ${known.length === 0 ? "there are none" : `there are ${known.join(", ")}`}`
              })
            : new JobError({ code: "JOB_FOREIGN", message: `job ${id} belongs to another session` })
        )
      })

    const finish = (entry: Entry, ended: Ended) =>
      Effect.gen(function* () {
        if (isOver(entry.job.status)) return
        const status: JobStatus = entry.killed === undefined ? ended.status : "killed"
        const detail = entry.killed === undefined ? ended.detail : entry.killed.reason
        const finishedAt = yield* Clock.currentTimeMillis
        entry.job = { ...entry.job, status, finishedAt, ...(detail !== undefined && { detail }) }
        yield* Deferred.succeed(entry.settled, undefined)
        const over = of(entry.session).filter(({ job }) => isOver(job.status))
        for (const { job } of over.slice(0, Math.max(0, over.length - remembered))) entries.delete(job.id)
        yield* settled.emit({ job: entry.job, session: entry.session, told: entry.told })
      })

    /** Until the work is over, or its Scope is closed. */
    const watch = (entry: Entry) =>
      entry.work.done.pipe(
        Effect.flatMap((ended) => finish(entry, ended)),
        Effect.ensuring(Scope.close(entry.scope, Exit.void))
      )

    const start = <E>({ begin, kind, label, session }: JobSpec<E>): Effect.Effect<Job, JobError | E> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          if (!/^[a-z]+$/.test(kind) || label.trim() === "") {
            return yield* new JobError({
              code: "JOB_INVALID",
              message: "a job needs a kind of lower-case letters, and a label"
            })
          }
          const running = of(session).filter(({ job }) => !isOver(job.status))
          if (running.length >= maxPerSession) {
            const ids = running.map(({ job }) => job.id).join(", ")
            return yield* new JobError({
              code: "JOB_LIMIT",
              message: `${maxPerSession} jobs are running already (${ids}); kill one or wait for its end`
            })
          }
          const scope = yield* Scope.fork(home, { _tag: "Sequential" })
          const work = yield* restore(Scope.extend(begin, scope)).pipe(
            Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
          )
          const count = (counts.get(kind) ?? 0) + 1
          counts.set(kind, count)
          const startedAt = yield* Clock.currentTimeMillis
          const job: Job = { id: `${kind}-${count}`, kind, label, status: "running", startedAt }
          const entry: Entry = {
            session,
            scope,
            work,
            settled: yield* Deferred.make<void>(),
            job,
            told: false,
            killed: undefined
          }
          entries.set(job.id, entry)
          yield* Effect.forkIn(Effect.interruptible(watch(entry)), home)
          return job
        })
      )

    /** Its tree is being ended when this returns. */
    const end = (entry: Entry, reason: string | undefined) =>
      Effect.gen(function* () {
        if (isOver(entry.job.status)) return
        entry.told = true
        entry.killed ??= { reason }
        entry.job = { ...entry.job, status: "stopping" }
        const close = Scope.close(entry.scope, Exit.void)
        yield* Effect.forkIn(Effect.zipRight(close, finish(entry, { status: "failed" })), home)
      })

    return Jobs.of({
      start,
      list: (session) => Effect.sync(() => of(session).map(({ job }) => job)),
      read: (id, session, waitMs = 0) =>
        Effect.gen(function* () {
          const entry = yield* find(id, session)
          if (waitMs > 0) yield* Effect.timeoutOption(Deferred.await(entry.settled), waitMs)
          // First how it stands: what it puts out before its end belongs to the same look.
          const { job } = entry
          if (isOver(job.status)) entry.told = true
          return { job, text: yield* entry.work.output }
        }),
      kill: (id, session, reason) =>
        Effect.gen(function* () {
          const entry = yield* find(id, session)
          yield* end(entry, reason)
          return entry.job
        }),
      drop: (session) =>
        Effect.forEach(
          of(session),
          (entry) =>
            Effect.suspend(() => {
              entries.delete(entry.job.id)
              entry.told = true
              return Scope.close(entry.scope, Exit.void)
            }),
          { discard: true, concurrency: "unbounded" }
        )
    })
  })

/** The jobs of an agent end with it. */
const owned = AgentDisposed.hook("jobs", ({ session }) => Effect.flatMap(Jobs, (jobs) => jobs.drop(session)))

export const layer = (options?: Options) =>
  Layer.provideMerge(owned, Layer.provideMerge(Layer.scoped(Jobs, make(options)), Hook.layer(JobSettled)))
