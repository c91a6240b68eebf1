/**
 * What is piped in, to its end.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Failure from "./Failure.ts"

export interface Stdin extends AsyncIterable<Uint8Array | string> {
  readonly isTTY?: boolean
}

/** For messages: what is read, and what to do when there is nothing. */
export interface Purpose {
  readonly what: string
  readonly hint: string
}

/** From here on a pipe nobody writes to is taken for a mistake. Once something arrived it is read to its end. */
const patience = Duration.minutes(1)

/** Without its surrounding white space. */
export const read = (stdin: Stdin, purpose: Purpose): Effect.Effect<string, Failure.Failure> =>
  Effect.scoped(Effect.flatMap(openReader(stdin), (chunks) => collect(chunks, purpose)))

const openReader = (stdin: Stdin) =>
  Effect.acquireRelease(
    Effect.sync(() => stdin[Symbol.asyncIterator]()),
    (chunks) => Effect.sync(() => void chunks.return?.())
  )

const collect = (
  chunks: AsyncIterator<Uint8Array | string>,
  { hint, what }: Purpose
): Effect.Effect<string, Failure.Failure> =>
  Effect.gen(function* () {
    const decoder = new TextDecoder()
    const next = Effect.tryPromise({
      try: () => chunks.next(),
      catch: (cause) => Failure.usage(`${what} cannot be read from stdin (${String(cause)}); ${hint}`)
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
