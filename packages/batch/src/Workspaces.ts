/**
 * Where the agents of a batch work: all in the folders that their tasks name, or each in one of its own.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

export class WorkspaceError extends Data.TaggedError("WorkspaceError")<{
  readonly code: "WORKSPACE_FAILED" | "NOT_A_REPOSITORY"
  readonly message: string
  readonly cause?: unknown
}> {}

export interface Workspace {
  /** Absolute. */
  readonly cwd: string
  /**
   * Nobody works there any more. A folder without changes is removed; one with changes stays, and that is where it is. To be run once,
   * and not at all when the work goes on in another process.
   */
  readonly finish: Effect.Effect<string | undefined, WorkspaceError>
}

export class Workspaces extends Context.Tag("@dsh/batch/Workspaces")<
  Workspaces,
  {
    /** Whether a folder can be had for work in `cwd`; fails with what to do about it when not. */
    readonly check: (cwd: string) => Effect.Effect<void, WorkspaceError>
    /** The folder for `id`, which is made when it is not there. Both are stable: the same id has the same folder. */
    readonly open: (id: string, cwd: string) => Effect.Effect<Workspace, WorkspaceError>
  }
>() {}
