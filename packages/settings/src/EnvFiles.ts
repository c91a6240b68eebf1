/**
 * The `.env` files of a project and of the home folder. Nothing of them gets into the environment of this process or of its children:
 * they are places where credentials are looked for, behind the environment and behind what dsh keeps.
 *
 * Both are read before either counts, and what is wrong with one ends the start.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { readFile, stat } from "node:fs/promises"
import { isBootstrap } from "./BootstrapNames.ts"
import * as EnvFile from "./EnvFile.ts"

export interface EnvFiles {
  readonly projectEnv: ReadonlyMap<string, string>
  readonly userEnv: ReadonlyMap<string, string>
}

export class EnvFileError extends Data.TaggedError("EnvFileError")<{
  readonly code: "ENV_FILE_UNREADABLE" | "ENV_FILE_INVALID" | "ENV_FILE_BOOTSTRAP"
  readonly file: string
  readonly line?: number
  readonly reason: string
}> {
  override get message(): string {
    return `${this.file}${this.line === undefined ? "" : `:${this.line}`}: ${this.reason}`
  }
}

const nothing: ReadonlyMap<string, string> = new Map()

export const none: EnvFiles = { projectEnv: nothing, userEnv: nothing }

/** A folder of that name, such as that of a virtual environment, is none of ours. */
const readText = (file: string) =>
  Effect.tryPromise({
    try: async () => ((await stat(file)).isFile() ? await readFile(file, "utf8") : undefined),
    catch: (error) => error as NodeJS.ErrnoException
  }).pipe(
    Effect.catchIf(
      ({ code }) => code === "ENOENT" || code === "ENOTDIR",
      () => Effect.succeed(undefined)
    ),
    Effect.mapError(
      ({ message }) => new EnvFileError({ code: "ENV_FILE_UNREADABLE", file, reason: `cannot be read: ${message}` })
    )
  )

const read = (file: string): Effect.Effect<ReadonlyMap<string, string>, EnvFileError> =>
  Effect.gen(function* () {
    const text = yield* readText(file)
    if (text === undefined) return nothing
    const assignments = yield* Either.mapLeft(
      EnvFile.parse(text),
      ({ line, reason }) =>
        new EnvFileError({ code: "ENV_FILE_INVALID", file, line, reason: `${reason}; correct the line or take it out` })
    )
    const bootstrap = assignments.find(({ name }) => isBootstrap(name))
    if (bootstrap === undefined) return new Map(assignments.map(({ name, value }) => [name, value]))
    const reason =
      `sets ${bootstrap.name}, which decides what runs or whom it talks to and is taken from no .env file; ` +
      "take the line out, and export it in your shell if you want it"
    return yield* new EnvFileError({ code: "ENV_FILE_BOOTSTRAP", file, line: bootstrap.line, reason })
  })

/** @param folders Absolute. Where both are one folder, its file is that of the project. */
export const load = (folders: {
  readonly project: string
  readonly home: string
}): Effect.Effect<EnvFiles, EnvFileError> =>
  Effect.gen(function* () {
    const projectEnv = yield* read(`${folders.project}/.env`)
    const userEnv = folders.home === folders.project ? nothing : yield* read(`${folders.home}/.env`)
    return { projectEnv, userEnv }
  })
