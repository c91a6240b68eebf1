/**
 * What a terminal puts out, pulled at the reader's pace: a little is kept ahead, then programs wait.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { readSync } from "node:fs"

/** Bytes. */
const ahead = 256 * 1024

export interface Source {
  readonly pause: () => void
  readonly resume: () => void
}

export class Screen {
  readonly #source: Source
  #chunks: Array<Uint8Array> = []
  #bytes = 0
  #paused = false
  #ended = false
  #reader: (() => void) | undefined

  constructor(source: Source) {
    this.#source = source
  }

  push(bytes: Uint8Array): void {
    this.#chunks.push(bytes)
    this.#bytes += bytes.length
    if (this.#bytes >= ahead && !this.#paused) {
      this.#paused = true
      this.#source.pause()
    }
    this.#reader?.()
  }

  /** No more will come. */
  end(): void {
    this.#ended = true
    this.#reader?.()
  }

  get stream(): Stream.Stream<Uint8Array> {
    return Stream.repeatEffectChunkOption(this.#pull)
  }

  readonly #pull: Effect.Effect<Chunk.Chunk<Uint8Array>, Option.Option<never>> = Effect.async((resume) => {
    const attempt = (): boolean => {
      if (this.#chunks.length > 0) resume(Effect.succeed(Chunk.unsafeFromArray(this.#take())))
      else if (this.#ended) resume(Effect.fail(Option.none()))
      else return false
      this.#reader = undefined
      this.#resume()
      return true
    }
    if (attempt()) return
    this.#reader = attempt
    return Effect.sync(() => {
      this.#reader = undefined
    })
  })

  #take(): Array<Uint8Array> {
    const taken = this.#chunks
    this.#chunks = []
    this.#bytes = 0
    return taken
  }

  #resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#source.resume()
  }
}

/**
 * What is still to be read of a terminal whose other end is closed: Node takes that for the end of it, whatever it has not read yet.
 */
export const rest = function* (fd: number): Generator<Uint8Array> {
  const bytes = Buffer.alloc(64 * 1024)
  for (;;) {
    let size: number
    try {
      size = readSync(fd, bytes)
    } catch {
      return
    }
    if (size === 0) return
    yield Uint8Array.from(bytes.subarray(0, size))
  }
}
