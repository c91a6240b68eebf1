/**
 * What one session changes in its workspace: logged, with what was there before and after kept by content.
 *
 * A tool that writes a file says so before it does. Commands do not: before the first one, the whole workspace is looked at and kept as far
 * as its limits allow; after each, it is compared. From then on a look costs a walk, for only what another stat shows is read again.
 *
 * What changes while none of the session's programs runs is somebody else's, and only taken note of. What changes while one does, is
 * counted as the session's own, unless another session of this process has logged that very change.
 */
import type { Session } from "@dsh/session/Session"
import type { SessionError } from "@dsh/session/SessionError"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { dirname, join, relative, sep } from "node:path"
import type { ChangedBy, FileChange, FileState } from "../FileChange.ts"
import * as FileStates from "../FileStates.ts"
import type { Snapshots } from "../Snapshots.ts"
import type { Claims } from "./Claims.ts"
import { Known } from "./Known.ts"
import * as Rules from "./Rules.ts"

export interface Options {
  readonly session: Session
  /** The workspace, canonical. */
  readonly folder: string
  /** The product's own folder, canonical where it exists. */
  readonly home: string
  readonly snapshots: Snapshots
  readonly claims: Claims
  /** Writes what was logged to where a killed process leaves it. */
  readonly flush: Effect.Effect<void, SessionError>
  /** Where the watchers of programs live. */
  readonly scope: Scope.Scope
  readonly maxEntries: number
  readonly maxFirstBytes: number
}

/** A tool call that starts programs, or may tell one what to do. */
export interface Call {
  /** From when on what its programs do is not found by the look at its end. */
  isOver: boolean
}

export class Recorder {
  readonly #options: Options
  readonly #known: Known
  /** One look at a time. */
  readonly #turns = Effect.unsafeMakeSemaphore(1)
  /** What tools are writing at this moment, and have logged. */
  readonly #writing = new Map<string, FileState>()
  #busy = 0
  #interactive = 0
  /** Calls at work that have started a program. */
  #calls = 0
  /** Something of the session ended, or was interrupted, since the last look. */
  #isOwing = false
  #isUnwatchable = false

  constructor(options: Options) {
    this.#options = options
    this.#known = new Known(options)
  }

  /** Whether a program of the session may have changed something since the last look. */
  get isAtWork(): boolean {
    return this.#busy > 0 || this.#interactive > 0 || this.#isOwing
  }

  /** See `Witness.file`. Never fails: a change is more important than what is known of it. */
  readonly file = (path: string, bytes: Uint8Array): Effect.Effect<Effect.Effect<void>> =>
    this.#guarded(
      Effect.suspend(() => {
        const relative = this.#inside(path)
        if (relative === undefined) return Effect.succeed(Effect.void)
        const before = this.#known.keep(relative)
        const mode = before.kind === "file" ? before.mode : 0o666 & ~process.umask()
        const sha256 = Rules.isSecret(relative) ? FileStates.digest(bytes) : this.#known.keepBytes(bytes)
        const after: FileState = { kind: "file", sha256, size: bytes.length, mode }
        const changes = [...this.#missingFolders(relative), { path: relative, before, after }]
        const over = Effect.sync(() => {
          for (const { path } of changes) this.#known.refresh(path, path === relative ? sha256 : undefined)
          this.#writing.delete(relative)
        }).pipe(this.#turns.withPermits(1), (end) => this.#guarded(end, undefined), Effect.asVoid)
        this.#writing.set(relative, after)
        return Effect.as(this.#log({ kind: "tool" }, changes), over)
      }).pipe(this.#turns.withPermits(1)),
      Effect.void
    )

  /** See `Witness.program`. `isFirst`: it is the first one that the call starts. */
  readonly program = (
    kind: "interactive" | "busy",
    call: Call,
    isFirst: boolean
  ): Effect.Effect<(exit: Effect.Effect<unknown>) => Effect.Effect<void>> =>
    Effect.as(isFirst && this.#isAlone ? this.#look(false) : Effect.void, (exit) =>
      Effect.suspend(() => {
        this.#count(kind, 1)
        const over = Effect.sync(() => {
          this.#count(kind, -1)
          if (call.isOver) this.#isOwing = true
        })
        return Effect.asVoid(Effect.forkIn(Effect.zipRight(exit, over), this.#options.scope))
      })
    )

  /** To be left when it is over. */
  readonly enter = (): Call => {
    this.#calls++
    return { isOver: false }
  }

  /** Logs what changed since the last look as the session's own, and forgets the call. */
  readonly leave = (call: Call): Effect.Effect<void> =>
    Effect.suspend(() => {
      call.isOver = true
      return Effect.ensuring(
        this.settle,
        Effect.sync(() => void this.#calls--)
      )
    })

  /** When a call was entered that goes on with a program that was waiting: what changed meanwhile is somebody else's. */
  readonly awaken: Effect.Effect<void> = Effect.suspend(() =>
    this.#interactive > 0 && this.#isAlone ? this.#look(false) : Effect.void
  )

  /** Logs what changed since the last look as the session's own. */
  readonly settle: Effect.Effect<void> = Effect.suspend(() => this.#look(true))

  /** Whether nothing of this session can have changed anything since the last look: the one call that was entered is about to begin. */
  get #isAlone(): boolean {
    return this.#busy === 0 && this.#calls <= 1 && !this.#isOwing
  }

  #count(kind: "interactive" | "busy", by: number): void {
    if (kind === "busy") this.#busy += by
    else this.#interactive += by
  }

  #look(isOwn: boolean): Effect.Effect<void> {
    if (this.#isUnwatchable) return Effect.void
    const { claims, session } = this.#options
    const look = Effect.gen(this, function* () {
      const isFirst = this.#known.isEmpty
      this.#isOwing = false
      const seen = yield* Effect.promise(() => this.#known.look())
      if (seen === undefined) {
        this.#isUnwatchable = true
        const note = `the workspace has more than ${this.#options.maxEntries} files, so what commands change is not watched`
        return yield* this.#append({ kind: "command" }, [], note)
      }
      if (!isOwn || isFirst) return
      const own = seen.filter(({ after, path }) => {
        const written = this.#writing.get(path)
        if (written !== undefined && FileStates.equal(written, after)) return false
        return !claims.isOthers(this.#absolute(path), after, session.id)
      })
      if (own.length > 0) yield* this.#log({ kind: "command" }, own)
    })
    return this.#guarded(this.#turns.withPermits(1)(look), undefined)
  }

  #log(by: ChangedBy, changes: ReadonlyArray<FileChange>): Effect.Effect<void, SessionError> {
    const { claims, session, snapshots } = this.#options
    for (const { after, path } of changes) claims.claim(this.#absolute(path), after, session.id)
    const hashes = changes.flatMap(({ after, before }) => [...hashOf(before), ...hashOf(after)])
    snapshots.keep(session.id, [...new Set(hashes)])
    return this.#append(by, changes)
  }

  #append(by: ChangedBy, changes: ReadonlyArray<FileChange>, note?: string): Effect.Effect<void, SessionError> {
    const { flush, session } = this.#options
    return Effect.zipRight(session.append("files/changed", { by, changes, ...(note !== undefined && { note }) }), flush)
  }

  /** Folders above `path` that will be made for it. */
  #missingFolders(path: string): ReadonlyArray<FileChange> {
    const missing: Array<FileChange> = []
    const after: FileState = { kind: "directory", mode: 0o777 & ~process.umask() }
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
      if (FileStates.lstat(this.#absolute(folder)) !== undefined) break
      missing.unshift({ path: folder, before: FileStates.absent, after })
    }
    return missing
  }

  /** Relative to the workspace; undefined for what is not watched. */
  #inside(path: string): string | undefined {
    const { folder, home } = this.#options
    const inner = relative(folder, path)
    if (
      inner === "" ||
      inner === ".." ||
      inner.startsWith(`..${sep}`) ||
      path === home ||
      path.startsWith(`${home}${sep}`)
    )
      return undefined
    return Rules.isOutside(inner) ? undefined : inner
  }

  #absolute(path: string): string {
    return join(this.#options.folder, path)
  }

  #guarded<A, B, E>(effect: Effect.Effect<A, E>, otherwise: B): Effect.Effect<A | B> {
    return Effect.catchAllCause(effect, (cause) =>
      Effect.as(Effect.logWarning("a change of files could not be recorded; it cannot be rewound", cause), otherwise)
    )
  }
}

const hashOf = (state: FileState): ReadonlyArray<string> => (state.kind === "file" ? [state.sha256] : [])
