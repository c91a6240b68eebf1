/**
 * The output contract: stdout carries the product and nothing else, everything about the run goes to stderr as
 * `dsh: …` lines.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { Failure } from "./Failure.ts"
import * as ExitCode from "./ExitCode.ts"

export class Output extends Context.Tag("@dsh/cli/Output")<
  Output,
  {
    /**
     * The product: `text` and one newline on stdout, complete when the stream has taken it. A reader that went away is
     * no failure; a stream that cannot take it (a full disk) is.
     */
    readonly print: (text: string) => Effect.Effect<void, Failure>
    /** The product as it is, newline or not; otherwise like `print`. */
    readonly write: (bytes: Uint8Array) => Effect.Effect<void, Failure>
    /** A line of the product as it happens, for commands whose product is a show. Plain code, like `reasoning`. */
    readonly say: (line: string) => void
    /**
     * What the model thinks, as it comes, in lines that start with `dsh: reasoning: `. Plain code: it runs per delta.
     */
    readonly reasoning: (delta: string) => void
    /** What the model thinks next is another thought: it begins a line of its own. */
    readonly endReasoning: () => void
    /** `dsh: message` on stderr, on a line of its own. */
    readonly notice: (message: string) => void
    /** `dsh: CODE: message` on stderr, on a line of its own. */
    readonly failure: (error: { readonly code: string; readonly message: string }) => void
    /** Completes when both streams have passed on what they were given. */
    readonly flush: Effect.Effect<void>
  }
>() {}

const prefix = "dsh: reasoning: "

export interface Streams {
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
}

/**
 * A stream from when it is first written to: `process.stdout` is made when it is looked at, and that takes as long as all that a
 * request to the model needs.
 *
 * Without a listener a reader that closes the pipe early (`dsh … | head -1`) would end the process with a stack trace.
 */
class Lazy {
  readonly #make: () => NodeJS.WritableStream
  #made: NodeJS.WritableStream | undefined
  /** What went wrong, apart from a reader that went away. */
  broken: NodeJS.ErrnoException | undefined

  constructor(make: () => NodeJS.WritableStream) {
    this.#make = make
  }

  write(text: string | Uint8Array, done?: (error?: Error | null) => void): void {
    if (this.#made === undefined) {
      this.#made = this.#make()
      this.#made.on("error", (error: NodeJS.ErrnoException) => {
        if (error.code !== "EPIPE") this.broken ??= error
      })
    }
    this.#made.write(text, done)
  }

  get drained(): Effect.Effect<void> {
    return Effect.async((resume) => {
      if (this.#made === undefined) return resume(Effect.void)
      this.#made.write("", () => resume(Effect.void))
    })
  }
}

/** Looks at a stream no sooner than there is something to write. */
export const make = (streams: Streams): Output["Type"] => {
  const stdout = new Lazy(() => streams.stdout)
  const stderr = new Lazy(() => streams.stderr)
  // Whether stderr stands inside a line of reasoning that is not ended yet.
  let inReasoning = false

  const line = (text: string): void => {
    stderr.write(inReasoning ? `\n${text}\n` : `${text}\n`)
    inReasoning = false
  }

  const endReasoning = (): void => {
    if (inReasoning) stderr.write("\n")
    inReasoning = false
  }

  const write = (product: string | Uint8Array) =>
    Effect.async<void, Failure>((resume) => {
      stdout.write(product, (cause) => {
        const error: NodeJS.ErrnoException | undefined = cause ?? stdout.broken
        if (error === undefined || error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED") {
          return resume(Effect.void)
        }
        const message = `stdout cannot be written (${error.message}); the answer is in the session log`
        resume(Effect.fail(new Failure({ code: "OUTPUT", message, exitCode: ExitCode.failed })))
      })
    })

  return Output.of({
    print: (text) => write(`${text}\n`),
    write,

    say: (text) => {
      endReasoning()
      stdout.write(`${text}\n`)
    },

    endReasoning,

    reasoning: (delta) => {
      if (delta === "") return
      const ends = delta.endsWith("\n")
      const body = ends ? delta.slice(0, -1) : delta
      const text = body.replaceAll("\n", `\n${prefix}`)
      stderr.write((inReasoning ? "" : prefix) + text + (ends ? "\n" : ""))
      inReasoning = !ends
    },

    notice: (message) => line(`dsh: ${message}`),
    failure: ({ code, message }) => line(`dsh: ${code}: ${message}`),

    flush: Effect.zipRight(
      Effect.suspend(() => {
        endReasoning()
        return stderr.drained
      }),
      stdout.drained
    )
  })
}
