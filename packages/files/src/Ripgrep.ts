/**
 * Runs ripgrep for the search tools: the packaged one, never by a shell, never with the user's own configuration, within a deadline and
 * a limit on what it may print.
 */
import { ToolError } from "@dsh/tools/ToolError"
import { ChangeWitness } from "@dsh/world/ChangeWitness"
import { CurrentConfinement, isHidden, isWithin } from "@dsh/world/Confinement"
import { Subprocess } from "@dsh/world/Subprocess"
import type { SubprocessError } from "@dsh/world/Subprocess"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { dirname } from "node:path"
import { Records } from "./Ripgrep/Records.ts"
import type { Record } from "./Ripgrep/Records.ts"

export type { Record } from "./Ripgrep/Records.ts"

export interface Options {
  /** Name or absolute path of ripgrep. Default: the packaged one, else the one in PATH. */
  readonly program?: string
  /** A search that takes longer gives what it found by then. Milliseconds, default 30 000. */
  readonly timeoutMs?: number
  /** What ripgrep may print, in bytes. Default 20 000 000. */
  readonly rawOutputMaxBytes?: number
}

export interface Search {
  /** What tells this search from others; patterns come after `-e`, paths after `--`. */
  readonly args: ReadonlyArray<string>
  /** Absolute. */
  readonly cwd: string
  /** The byte that ends a record. */
  readonly separator: number
  readonly take: (record: Record) => void
  readonly deadlineMs: number
  readonly maxBytes: number
  readonly program: string | undefined
}

export interface Ended {
  /** The deadline came first. */
  readonly isPartial: boolean
  /** Files and folders that could not be looked into. */
  readonly unreadable: number
}

export const defaultTimeoutMs = 30_000
export const defaultMaxBytes = 20_000_000
export const newline = 0x0a
export const nul = 0

/** What version control keeps for itself. */
export const internals = [".git", ".svn", ".hg", ".bzr", ".jj", ".sl"]

/** Hidden files are searched and ignored ones are not, in a repository or not: so it is with every search of ours. */
const universe = [
  "--no-config",
  "--color=never",
  "--hidden",
  "--no-require-git",
  ...internals.map((name) => `--glob=!${name}`)
]

const graceMs = 3000
const stderrMaxBytes = 65_536
const longestRecord = 256 * 1024

/** Hands every record to `take`. Exit 1 is an empty success. */
export const run = (search: Search): Effect.Effect<Ended, ToolError, Subprocess> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { cwd, deadlineMs, maxBytes, separator, take } = search
      const subprocess = yield* Subprocess
      const program = yield* locate(search.program)
      const spawn = subprocess.spawn({
        argv: [program, ...universe, ...search.args],
        cwd,
        stdin: "ignore",
        stdout: "stream",
        stderr: { maxBytes: stderrMaxBytes },
        graceMs
      })
      // It changes nothing, so nobody has to look before and after it.
      const unwatched = Effect.provideService(spawn, ChangeWitness, undefined)
      const process = yield* Effect.mapError(visibly(program, unwatched), notStarted)
      const records = new Records({ separator, longest: longestRecord, take })
      const reading = Stream.runForEach(process.stdout, (bytes) => {
        records.push(bytes)
        return records.kept > maxBytes ? overflow(maxBytes) : Effect.void
      })
      const exit = Effect.zipRight(Effect.mapError(reading, readable), process.exit)
      const ended = yield* Effect.timeoutOption(exit, Duration.millis(deadlineMs))
      // Half a record that the deadline cut is none.
      if (Option.isNone(ended)) return { isPartial: true, unreadable: 0 }
      records.end()
      const { bytes } = yield* process.collected.stderr.readFrom(0)
      return yield* judge(ended.value, Buffer.from(bytes).toString("utf8").trim())
    })
  )

// -----------------------------------------------------------------------------
// the program
// -----------------------------------------------------------------------------

/** Only now, for most runs search nothing. The package throws where it has no binary for the platform. */
const packaged = Effect.tryPromise(() => import("@vscode/ripgrep"))

/** The program that `wanted` names, else the packaged one, else whatever is in PATH. */
export const locate = (
  wanted: string | undefined,
  load: Effect.Effect<{ readonly rgPath: string }, unknown> = packaged
): Effect.Effect<string, ToolError, Subprocess> =>
  Effect.flatMap(Subprocess, (subprocess) => {
    const inPath = (name: string) =>
      Effect.mapError(
        subprocess.resolveExecutable(name),
        (cause) =>
          new ToolError({
            code: "SEARCH_UNAVAILABLE",
            message: `there is no ripgrep to search with (${process.platform}-${process.arch}); install it so that "${name}" is in PATH, or install dsh with its optional dependencies; until then search with grep and find in bash`,
            cause
          })
      )
    if (wanted !== undefined) return inPath(wanted)
    // Packaged with us, not with the world that programs run in: it may be another one.
    return Effect.catchAll(
      Effect.flatMap(load, ({ rgPath }) => subprocess.resolveExecutable(rgPath)),
      () => inPath("rg")
    )
  })

/** Where the program stands in a place that is hidden from whoever is confined, that one folder is shown. */
const visibly = <A, E, R>(program: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(CurrentConfinement, (held) => {
    if (held === undefined || isWithin(program, held.workspace)) return effect
    if (!isWithin(program, "/tmp") && !isHidden(held, program)) return effect
    return Effect.provideService(effect, CurrentConfinement, { ...held, shown: [...held.shown, dirname(program)] })
  })

// -----------------------------------------------------------------------------
// how it ended
// -----------------------------------------------------------------------------

interface Exit {
  readonly exitCode: number | null
  readonly signal: string | null
}

/** A file that cannot be read is no reason to withhold what is in the others. */
const unreadable = /\(os error \d+\)$/
const badPattern = /regex parse error|is not allowed in a regex|error parsing (glob|regex)|exceeds size limit|PCRE2/

const judge = ({ exitCode, signal }: Exit, stderr: string): Effect.Effect<Ended, ToolError> => {
  if (exitCode === 0 || (exitCode === 1 && stderr === "")) return Effect.succeed({ isPartial: false, unreadable: 0 })
  if (signal !== null) {
    const message = `the search was ended by ${signal} from outside; try it again, on fewer files if that repeats`
    return new ToolError({ code: "SEARCH_ABORTED", message })
  }
  const lines = stderr.split("\n").filter((line) => line.trim() !== "")
  if (exitCode === 2 && lines.length > 0 && lines.every((line) => unreadable.test(line))) {
    return Effect.succeed({ isPartial: false, unreadable: lines.length })
  }
  const said = stderr === "" ? `it ended with exit code ${exitCode}` : stderr.slice(0, 2000).replace(/^rg: /, "")
  return badPattern.test(stderr)
    ? new ToolError({
        code: "SEARCH_INVALID_PATTERN",
        message: `the pattern cannot be searched for: ${said}\nIt is a regular expression of Rust: escape ( ) [ ] { } . * + ? | ^ $ \\ to find them as they are`
      })
    : new ToolError({ code: "SEARCH_FAILED", message: `the search failed: ${said}` })
}

const overflow = (maxBytes: number): Effect.Effect<never, ToolError> =>
  new ToolError({
    code: "SEARCH_RAW_OUTPUT_OVERFLOW",
    message: `the search finds more than ${maxBytes} bytes; narrow it: a more telling pattern, a folder as path, include, or output "files"`
  })

const notStarted = ({ cause, code, message }: SubprocessError): ToolError =>
  new ToolError({
    // How to get a sandbox is worth its own code, everything else about starting is not.
    code: code === "SANDBOX_UNAVAILABLE" ? code : "SEARCH_FAILED",
    message: `the search could not be started: ${message}`,
    cause
  })

const readable = (error: ToolError | SubprocessError): ToolError =>
  error instanceof ToolError
    ? error
    : new ToolError({ code: "SEARCH_FAILED", message: `the search failed: ${error.message}`, cause: error })
