/**
 * Timing whole processes. Subjects take turns, so that a change of weather on the machine hits all of them.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import * as Samples from "./Samples.ts"

export interface Subject {
  /** What follows `node`. */
  readonly args: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
}

export interface Run {
  /** From spawn to exit, in milliseconds. */
  readonly wall: number
  /** The largest resident set, in MiB. */
  readonly peakRss: number
  /** `performance.now()` of this process at the spawn. */
  readonly startedAt: number
}

/** The child did not end with exit code 0, so its time means nothing. */
export class ProcessFailed extends Data.TaggedError("ProcessFailed")<{
  readonly args: ReadonlyArray<string>
  readonly code: number | null
  readonly stderr: string
}> {
  override get message(): string {
    return `node ${this.args.join(" ")} ended with ${this.code}\n${this.stderr}`
  }
}

const rssReporter = ["--require", "./apps/bench/programs/report-rss.cjs"]

/** Runs the subject once. Its stdout is read and dropped, as a terminal or a pipe would. */
export const once = (subject: Subject, options: { readonly rss?: boolean } = {}): Effect.Effect<Run, ProcessFailed> =>
  Effect.async((resume) => {
    const args = options.rss === true ? [...rssReporter, ...subject.args] : subject.args
    const startedAt = performance.now()
    const child = spawn(process.execPath, args, {
      env: { ...process.env, ...subject.env },
      stdio: ["ignore", "pipe", "pipe", "pipe"]
    })
    const text = { stderr: "", report: "" }
    child.stdio[1]?.resume()
    child.stdio[2]?.on("data", (data: Buffer) => (text.stderr += data.toString()))
    child.stdio[3]?.on("data", (data: Buffer) => (text.report += data.toString()))
    let wall = 0
    child.once("exit", () => (wall = performance.now() - startedAt))
    child.once("close", (code) =>
      resume(
        code === 0
          ? Effect.succeed({ wall, peakRss: Number(text.report) / 1024, startedAt })
          : new ProcessFailed({ args, code, stderr: text.stderr })
      )
    )
    return Effect.sync(() => child.kill("SIGKILL"))
  })

/**
 * Runs the subjects in turns, each once unmeasured (a first run fills caches) and then `rounds` times, and reduces
 * each run to a number.
 */
export const takeTurns = <Name extends string>(
  subjects: Readonly<Record<Name, Effect.Effect<number, ProcessFailed>>>,
  rounds: number
): Effect.Effect<Readonly<Record<Name, Samples.Samples>>, ProcessFailed> =>
  Effect.gen(function* () {
    const names = Object.keys(subjects) as Array<Name>
    const values = Object.fromEntries(names.map((name) => [name, [] as Array<number>])) as Record<Name, Array<number>>
    for (let round = 0; round <= rounds; round++) {
      for (const name of names) {
        const value = yield* subjects[name]
        if (round > 0) values[name].push(value)
      }
    }
    return Object.fromEntries(names.map((name) => [name, Samples.of(values[name])])) as Record<Name, Samples.Samples>
  })

/** The wall time of one run, for `takeTurns`. */
export const wall = (subject: Subject): Effect.Effect<number, ProcessFailed> =>
  Effect.map(once(subject), (run) => run.wall)
