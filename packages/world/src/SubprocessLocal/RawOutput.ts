/**
 * A pipe as a `Stream` of the chunks it delivered, pulled at the consumer's pace so that a slow consumer slows the child.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Readable } from "node:stream"
import { SubprocessError } from "../Subprocess.ts"

type Pull = Effect.Effect<Chunk.Chunk<Uint8Array>, Option.Option<SubprocessError>>

export const stream = (readable: Readable): Stream.Stream<Uint8Array, SubprocessError> =>
  Stream.repeatEffectChunkOption(pull(readable))

const pull = (readable: Readable): Pull =>
  Effect.async((resume) => {
    const events = ["readable", "end", "close", "error"] as const
    const attempt = (): boolean => {
      const chunk: Buffer | null = readable.read()
      if (chunk !== null) resume(Effect.succeed(Chunk.of(chunk)))
      else if (readable.errored !== null) resume(Effect.fail(Option.some(broken(readable.errored))))
      else if (readable.readableEnded || readable.destroyed) resume(Effect.fail(Option.none()))
      else return false
      return true
    }
    const stop = () => events.forEach((event) => readable.off(event, listener))
    const listener = () => {
      if (attempt()) stop()
    }
    if (attempt()) return
    events.forEach((event) => readable.on(event, listener))
    return Effect.sync(stop)
  })

const broken = (cause: Error): SubprocessError =>
  new SubprocessError({
    code: "SUBPROCESS_SPAWN_FAILED",
    message: `reading the output of the process failed: ${cause.message}`,
    cause
  })
