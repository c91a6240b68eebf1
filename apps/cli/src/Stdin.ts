/**
 * What is piped in, to its end.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { fstatSync } from "node:fs"
import * as Failure from "./Failure.ts"

export interface Stdin extends AsyncIterable<Uint8Array | string> {
  readonly isTTY?: boolean
}

/** What stdin is when nobody has looked into it. `nothing`: a terminal, closed, or something that cannot be read. */
export type Kind = "nothing" | "file" | "pipe"

export const kind = (): Kind => {
  try {
    const stat = fstatSync(0)
    if (stat.isFile()) return "file"
    return stat.isFIFO() || stat.isSocket() ? "pipe" : "nothing"
  } catch {
    return "nothing"
  }
}

/** For messages: what is read, and what to do when there is nothing. */
export interface Purpose {
  readonly what: string
  readonly hint: string
}

/** From here on a pipe nobody writes to is taken for a mistake. Once something arrived it is read to its end. */
const patience = Duration.minutes(1)

/** More of it does not fit into any model. */
const mostBytes = 10 * 1024 * 1024

/** Without its surrounding white space. */
export const read = (stdin: Stdin, purpose: Purpose): Effect.Effect<string, Failure.Failure> =>
  Effect.scoped(
    Effect.flatMap(openReader(stdin), (chunks) =>
      collect(chunks, purpose, {
        duration: patience,
        orElse: () => Failure.usage(`nothing arrived on stdin for ${Duration.format(patience)}; ${purpose.hint}`)
      })
    )
  )

/** Gives up, with nothing, when nothing arrives in time. */
export const readSoon = (
  stdin: Stdin,
  purpose: Purpose,
  duration: Duration.Duration
): Effect.Effect<string | undefined, Failure.Failure> =>
  Effect.scoped(
    Effect.flatMap(openReader(stdin), (chunks) =>
      collect<undefined>(chunks, purpose, { duration, orElse: () => Effect.succeed(undefined) })
    )
  )

const openReader = (stdin: Stdin) =>
  Effect.acquireRelease(
    Effect.sync(() => stdin[Symbol.asyncIterator]()),
    (chunks) => Effect.sync(() => void chunks.return?.())
  )

const collect = <Late>(
  chunks: AsyncIterator<Uint8Array | string>,
  { hint, what }: Purpose,
  late: { readonly duration: Duration.Duration; readonly orElse: () => Effect.Effect<Late, Failure.Failure> }
): Effect.Effect<string | Late, Failure.Failure> =>
  Effect.gen(function* () {
    const decoder = new TextDecoder()
    const next = Effect.tryPromise({
      try: () => chunks.next(),
      catch: (cause) => Failure.usage(`${what} cannot be read from stdin (${String(cause)}); ${hint}`)
    })
    const first = yield* Effect.timeoutOption(next, late.duration)
    if (first._tag === "None") return yield* late.orElse()
    let result = first.value
    let text = ""
    let bytes = 0
    while (result.done !== true) {
      const { value } = result
      bytes += value.length
      if (bytes > mostBytes)
        return yield* Failure.usage(`${what} on stdin is longer than 10 MiB; put it into a file and name it`)
      text += typeof value === "string" ? value : decoder.decode(value, { stream: true })
      result = yield* next
    }
    return (text + decoder.decode()).trim()
  })
