/**
 * Where results go: stdout, or a file with a journal beside it.
 */
import type { BatchJournal } from "@dsh/batch/BatchJournal"
import * as BatchJournalFile from "@dsh/batch/BatchJournalFile"
import type { BatchResult } from "@dsh/batch/BatchResult"
import type { BatchError } from "@dsh/batch/BatchError"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { dirname, resolve } from "node:path"
import * as ExitCode from "../ExitCode.ts"
import * as Failure from "../Failure.ts"
import { Output } from "../Output.ts"
import type { Batch } from "../Request.ts"

export type Isolation = BatchJournalFile.Opened["about"]["isolate"]

export interface Results {
  /** What the batch is called, and what it was begun with. */
  readonly about: BatchJournalFile.Opened["about"]
  readonly journal: BatchJournal["Type"] | undefined
  /** Hears of the results that are there from before. */
  readonly before: (use: (result: BatchResult) => void) => Effect.Effect<void, Failure.Failure>
  readonly write: (result: BatchResult) => Effect.Effect<void, Failure.Failure>
  /** Nobody reads them any more. */
  readonly isGone: () => boolean
}

const line = (result: BatchResult): string => `${JSON.stringify(result)}\n`

const fresh = (isolate: Isolation | undefined): Results["about"] => ({
  batch: globalThis.crypto.randomUUID(),
  isolate: isolate ?? "none",
  cwd: process.cwd()
})

/** For as long as the current Scope is open. */
export const open = ({ isolate, out, resume }: Pick<Batch, "out" | "resume"> & { isolate: Isolation | undefined }) =>
  out === undefined || out === "-" ? toStdout(isolate, resume) : toFile(resolve(out), isolate, resume)

const toStdout = (isolate: Isolation | undefined, resume: boolean) =>
  Effect.gen(function* () {
    if (resume) {
      return yield* Failure.usage(
        "--resume goes on from the journal beside the results; say where they are: --out FILE"
      )
    }
    const output = yield* Output
    let isGone = false
    process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
      if (code === "EPIPE") isGone = true
    })
    const results: Results = {
      about: fresh(isolate),
      journal: undefined,
      before: () => Effect.void,
      write: (result) => output.print(line(result).trimEnd()),
      isGone: () => isGone
    }
    return results
  })

const journalOf = (out: string): string => `${out}.journal`

const toFile = (out: string, isolate: Isolation | undefined, resume: boolean) =>
  Effect.gen(function* () {
    yield* attempt(`make the folder of ${out}`, () => Fs.mkdirSync(dirname(out), { recursive: true }))
    const isThere = (file: string) => (Fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0
    const hasJournal = isThere(journalOf(out))
    if (!resume && (hasJournal || isThere(out))) {
      return yield* Failure.usage(
        `${out} has results already; go on with them by --resume, or choose another file for --out`
      )
    }
    if (resume && !hasJournal && isThere(out)) {
      return yield* Failure.usage(
        `${journalOf(out)} is not there, so nobody knows what ${out} has; choose another file for --out`
      )
    }
    const opened = yield* BatchJournalFile.open({ file: journalOf(out), about: fresh(isolate) }).pipe(
      Effect.provide(NodeFileSystem.layer),
      Effect.mapError(failure)
    )
    const { about } = opened
    if (isolate !== undefined && isolate !== about.isolate) {
      return yield* Failure.usage(`this batch was begun with --isolate ${about.isolate} and goes on so`)
    }
    if (about.cwd !== process.cwd()) {
      return yield* Failure.usage(
        `this batch was begun in ${about.cwd}, and its folders are taken against that; go there`
      )
    }
    yield* restored(out, opened)
    const file = yield* Effect.acquireRelease(
      attempt(`open ${out}`, () => Fs.openSync(out, "a")),
      (descriptor) =>
        Effect.sync(() => {
          Fs.fsyncSync(descriptor)
          Fs.closeSync(descriptor)
        })
    )
    const results: Results = {
      about,
      journal: opened.journal,
      before: (use) => Effect.mapError(opened.results(use), failure),
      write: (result) => attempt(`write ${out}`, () => Fs.appendFileSync(file, line(result))),
      isGone: () => false
    }
    return results
  })

/** The journal is what counts: results that did not get into the file are put there, and what is there besides goes. */
const restored = (out: string, { results }: BatchJournalFile.Opened) =>
  Effect.gen(function* () {
    const partial = `${out}.partial`
    let text = ""
    yield* Effect.mapError(
      results((result) => {
        text += line(result)
      }),
      failure
    )
    yield* attempt(`write ${out}`, () => {
      if (Fs.existsSync(out) && Fs.readFileSync(out, "utf8") === text) return
      const descriptor = Fs.openSync(partial, "w")
      Fs.writeFileSync(descriptor, text)
      Fs.fsyncSync(descriptor)
      Fs.closeSync(descriptor)
      Fs.renameSync(partial, out)
    })
  })

const attempt = <A>(what: string, run: () => A): Effect.Effect<A, Failure.Failure> =>
  Effect.try({
    try: run,
    catch: (cause) =>
      new Failure.Failure({
        code: "OUTPUT",
        message: `cannot ${what}: ${cause instanceof Error ? cause.message : String(cause)}`,
        exitCode: ExitCode.failed
      })
  })

/** Before anything was begun these are a matter of how the command was called. */
export const failure = ({ code, message }: BatchError): Failure.Failure => {
  switch (code) {
    case "INVALID_OPTIONS":
    case "TASKS_CHANGED":
    case "BATCH_EXISTS":
      return new Failure.Failure({ code, message, exitCode: ExitCode.usage })
    case "BATCH_IN_USE":
    case "JOURNAL_CORRUPT":
    case "NOT_SUPPORTED":
      return Failure.configuration(code, message)
    case "JOURNAL_FAILED":
      return Failure.fromError({ code, message })
  }
}
