/**
 * Work in the background: something that goes on while the agent does something else, belongs to a session, and can be looked at,
 * waited for and ended. What the work is (a command, a sub-agent) is up to whoever starts it.
 */
import * as Hook from "@dsh/kernel/Hook"
import type { Session } from "@dsh/session/Session"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export class JobError extends Data.TaggedError("JobError")<{
  readonly code: "JOB_NOT_FOUND" | "JOB_FOREIGN" | "JOB_LIMIT" | "JOB_INVALID"
  readonly message: string
}> {}

export type JobStatus = "running" | "stopping" | "completed" | "killed" | "failed"

export const isOver = (status: JobStatus): boolean => status !== "running" && status !== "stopping"

export interface Job {
  /** `<kind>-<n>`, counted for each kind. */
  readonly id: string
  readonly kind: string
  readonly label: string
  readonly status: JobStatus
  /** How it ended, in a few words: `exit code 1`. */
  readonly detail?: string
  /** Epoch milliseconds. */
  readonly startedAt: number
  readonly finishedAt?: number
}

/** How work ended by itself. */
export interface Ended {
  readonly status: "completed" | "failed"
  readonly detail?: string
}

/** Work that has begun. It is ended by closing the Scope it began in. */
export interface Work {
  readonly done: Effect.Effect<Ended>
  /** What it has put out since this was asked last; empty when nothing. */
  readonly output: Effect.Effect<string>
}

export interface JobSpec<E> {
  /** Lower-case letters. */
  readonly kind: string
  /** For people: the command, mostly. */
  readonly label: string
  /** None: it belongs to nobody and everybody sees it. */
  readonly session: Session | undefined
  /** Begins the work. If that fails there is no job. */
  readonly begin: Effect.Effect<Work, E, Scope.Scope>
}

export interface JobOutput {
  readonly job: Job
  /** What is new since the last time. */
  readonly text: string
}

export class Jobs extends Context.Tag("@dsh/shell/Jobs")<
  Jobs,
  {
    /** Fails with `JOB_LIMIT` when the session has as many as it may, and with whatever beginning fails with. */
    readonly start: <E>(spec: JobSpec<E>) => Effect.Effect<Job, JobError | E>
    /** Those of a session that are remembered, oldest first. */
    readonly list: (session: Session | undefined) => Effect.Effect<ReadonlyArray<Job>>
    /**
     * What is new, and how it stands; waits for the end of the job for at most `waitMs` first. Fails with `JOB_NOT_FOUND` and, for a job
     * of another session, `JOB_FOREIGN`.
     */
    readonly read: (id: string, session: Session | undefined, waitMs?: number) => Effect.Effect<JobOutput, JobError>
    /** Ends it, and returns before it has ended. Nothing when it is over. Fails as `read` does. */
    readonly kill: (id: string, session: Session | undefined, reason?: string) => Effect.Effect<Job, JobError>
    /** Ends all of a session and forgets them. */
    readonly drop: (session: Session) => Effect.Effect<void>
  }
>() {}

/** A job is over. `told`: whoever owns it has seen that already, or ended it. */
export class JobSettled extends Hook.Emit<
  JobSettled,
  { readonly job: Job; readonly session: Session | undefined; readonly told: boolean }
>()("jobs/settled") {}
