/**
 * What is told of work that could not begin or go on.
 */
import type { AgentError } from "@dsh/agent/AgentError"
import { PersistenceError } from "@dsh/persistence/PersistenceError"
import type { PresetError } from "@dsh/permission/PermissionPresets"
import type { SessionError } from "@dsh/session/SessionError"
import type { FsError } from "@dsh/world/Fs"
import * as Choice from "../AgentPresets/Choice.ts"
import * as Failure from "../Failure.ts"
import type * as Origin from "./Origin.ts"

type Failed = AgentError | SessionError | PersistenceError | PresetError | FsError | Failure.Failure

export const failure =
  ({ from, preset }: Pick<Origin.Options, "from" | "preset">) =>
  (error: Failed): Failure.Failure => {
    if (error instanceof Failure.Failure) return error
    if (error._tag === "AgentError" && error.code === "PRESET_UNAVAILABLE") {
      return Choice.unavailable(error.message, from._tag === "New" ? preset : undefined)
    }
    // What is wrong with a stored session is told in the words of who stores it.
    const stored = error._tag === "SessionError" && error.cause instanceof PersistenceError ? error.cause : error
    return Failure.fromError(stored)
  }
