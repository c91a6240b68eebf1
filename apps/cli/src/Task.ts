/**
 * The task of `dsh run`: its words, or else what is piped in.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Failure from "./Failure.ts"

export interface Stdin extends AsyncIterable<Uint8Array | string> {
  readonly isTTY?: boolean
}

const hint = `say what to do, for example: dsh run "fix the failing test"`

/** From here on a pipe nobody writes to is taken for a mistake. Once something arrived it is read to its end. */
const patience = Duration.minutes(1)

/** Succeeds with a task that is not blank, without its surrounding white space. */
export const resolve = (
  words: ReadonlyArray<string>,
  openStdin: () => Stdin = () => process.stdin
): Effect.Effect<string, Failure.Failure> =>
  Effect.filterOrFail(
    words.length > 0 ? Effect.succeed(words.join(" ").trim()) : Effect.suspend(() => read(openStdin())),
    (task) => task !== "",
    () => Failure.usage(words.length > 0 ? `the task is blank; ${hint}` : `no task was given; ${hint}`)
  )

const read = (stdin: Stdin): Effect.Effect<string, Failure.Failure> =>
  stdin.isTTY === true ? Effect.succeed("") : Effect.scoped(Effect.flatMap(openReader(stdin), collect))

const openReader = (stdin: Stdin) =>
  Effect.acquireRelease(
    Effect.sync(() => stdin[Symbol.asyncIterator]()),
    (chunks) => Effect.sync(() => void chunks.return?.())
  )

const collect = (chunks: AsyncIterator<Uint8Array | string>): Effect.Effect<string, Failure.Failure> =>
  Effect.gen(function* () {
    const decoder = new TextDecoder()
    const next = Effect.tryPromise({
      try: () => chunks.next(),
      catch: (cause) => Failure.usage(`the task cannot be read from stdin (${String(cause)}); ${hint}`)
    })
    let text = ""
    let result = yield* Effect.timeoutFail(next, {
      duration: patience,
      onTimeout: () => Failure.usage(`nothing arrived on stdin for ${Duration.format(patience)}; ${hint}`)
    })
    while (result.done !== true) {
      text += typeof result.value === "string" ? result.value : decoder.decode(result.value, { stream: true })
      result = yield* next
    }
    return (text + decoder.decode()).trim()
  })
