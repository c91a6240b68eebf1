/**
 * The file of tasks, checked as a whole before anything starts.
 */
import type { BatchTask } from "@dsh/batch/BatchTask"
import * as TaskFile from "@dsh/batch/TaskFile"
import type { Problem } from "@dsh/batch/TaskFile"
import * as Effect from "effect/Effect"
import { readFileSync, statSync } from "node:fs"
import { resolve } from "node:path"
import * as ExitCode from "../ExitCode.ts"
import * as Failure from "../Failure.ts"
import { Output } from "../Output.ts"
import * as Stdin from "../Stdin.ts"

const hint = `tasks are lines of JSON, for example: {"task": "fix the failing test"}`

const text = (file: string): Effect.Effect<string, Failure.Failure> =>
  file === "-"
    ? Stdin.read(process.stdin, { what: "the tasks", hint })
    : Effect.try({
        try: () => readFileSync(file, "utf8"),
        catch: (cause) =>
          Failure.usage(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`)
      })

/** Fails with exit code 2 when lines make no sense, after naming them all. */
export const read = (file: string): Effect.Effect<ReadonlyArray<BatchTask>, Failure.Failure, Output> =>
  Effect.gen(function* () {
    const { problems, tasks } = TaskFile.parse(yield* text(file))
    if (problems.length > 0) return yield* refuse(file, problems, ExitCode.usage)
    if (tasks.length === 0) return yield* Failure.usage(`${name(file)} has no tasks; ${hint}`)
    return tasks
  })

/** What is wrong about the folders of tasks. */
export const folders = (tasks: ReadonlyArray<BatchTask>, cwd: string, isolated: boolean): ReadonlyArray<Problem> => {
  const known = new Map<string, boolean>()
  const isFolder = (path: string): boolean => {
    let is = known.get(path)
    if (is === undefined) {
      is = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
      known.set(path, is)
    }
    return is
  }
  return tasks.flatMap(({ cwd: typed, line = 0, sessionId }): ReadonlyArray<Problem> => {
    const path = resolve(cwd, typed ?? ".")
    if (!isFolder(path)) return [{ line, field: "cwd", reason: `is ${path}, where there is no folder` }]
    return isolated && sessionId !== undefined
      ? [{ line, field: "sessionId", reason: "cannot be had with --isolate: a session goes on in its own folder" }]
      : []
  })
}

const name = (file: string): string => (file === "-" ? "stdin" : file)

/** Names every problem, then fails. */
export const refuse = (file: string, problems: ReadonlyArray<Problem>, exitCode: ExitCode.ExitCode) =>
  Effect.flatMap(Output, (output) => {
    for (const problem of problems) output.failure({ code: "INVALID_TASK", message: TaskFile.show(problem) })
    const lines = new Set(problems.map(({ line }) => line)).size
    const message = `${lines === 1 ? "one line" : `${lines} lines`} of ${name(file)} cannot be used; nothing was started`
    return new Failure.Failure({ code: exitCode === ExitCode.usage ? "USAGE" : "INVALID_CONFIG", message, exitCode })
  })
