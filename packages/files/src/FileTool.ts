/**
 * What the file tools have in common: how they name a file, show one, and fail.
 */
import { ToolError } from "@dsh/tools/ToolError"
import { FsError } from "@dsh/world/Fs"
import type { FileContent, FsTarget } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as TextFile from "./TextFile.ts"
import type { NotText } from "./TextFile.ts"

export const FilePath = Schema.String.pipe(Schema.pattern(/\S/, { message: () => "must not be blank" })).annotations({
  description: "Path of the file; a relative one starts at the workspace folder, ~ is not expanded."
})

/** For properties that may be missing but are never `undefined`. */
export const optional = { exact: true } as const

/** The version of a file that the session has seen with this call. */
export const Observed = Schema.Struct({ key: Schema.String, version: Schema.String })

/** Files larger than this are for commands, not for a tool that holds them in memory. */
export const maxFileBytes = 64 * 1024 * 1024

/** Longer texts are left out of values and logs. */
export const maxDiffBytes = 10 * 1024 * 1024

/** Enough for a slow disk; a network file system that does not answer must not stop the agent. */
export const timeout = "60 seconds"

/** What a tool says about the file at `path`. */
export const show = (path: string, body: string): string =>
  `<path>${path}</path>\n<type>file</type>\n<content>\n${body}\n</content>`

/** What the model is told of a failure. */
export const failed = ({ code, message, cause }: Failure): ToolError => new ToolError({ code, message, cause })

interface Failure {
  readonly code: string
  readonly message: string
  readonly cause?: unknown
}

export const notText = ({ displayPath }: FsTarget, { code, message }: NotText): FsError =>
  new FsError({ code, message: `${displayPath} ${message}` })

/** The content of a file as text; fails with `FS_NOT_TEXT`. */
export const opened = (target: FsTarget, { bytes }: FileContent): Effect.Effect<TextFile.TextFile, FsError> =>
  Effect.mapError(TextFile.open(bytes), (error) => notText(target, error))

/** Fails with `FS_NOT_TEXT` if the encoding of `file` does not have all of `text`. */
export const writable = (
  { displayPath }: FsTarget,
  file: TextFile.TextFile,
  text: string
): Either.Either<void, FsError> => {
  const reason = TextFile.unwritable(file, text)
  return reason === undefined
    ? Either.void
    : Either.left(
        new FsError({
          code: "FS_NOT_TEXT",
          message: `${displayPath} ${reason}; write it without that, or convert the file first, with iconv for instance`
        })
      )
}

/** Fails with `FS_NOT_TEXT` if one of the matches that begin at `starts` may begin inside of a character. */
export const whole = (
  { displayPath }: FsTarget,
  { encoding, units }: TextFile.TextFile,
  starts: ReadonlyArray<number>
): Either.Either<void, FsError> =>
  encoding === "unknown" && starts.some((start) => mayBeHalf(units, start))
    ? Either.left(
        new FsError({
          code: "FS_NOT_TEXT",
          message: `${displayPath} is not valid UTF-8, and the text to replace begins right behind a byte that may belong to the same character; begin it elsewhere, at the start of the line for instance`
        })
      )
    : Either.void

// In a double-byte encoding a byte that looks like ASCII may be the second half of a character.
const mayBeHalf = (units: string, start: number): boolean =>
  start > 0 && units.charCodeAt(start - 1) >= 0x80 && /[@-~]/.test(units.charAt(start))
