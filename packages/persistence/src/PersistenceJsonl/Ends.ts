/**
 * The two ends of a log file, read without what is between them.
 */
import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

const newline = 10
const headBytes = 4096
/** No header is this long; a file without a newline by then is no log. */
const longestHeader = 1024 * 1024
const tailBytes = 16_384

/** The first line; nothing when it is not complete. */
export const firstLine = (file: FileSystem.File, size: number): Effect.Effect<string | undefined, PlatformError> =>
  Effect.gen(function* () {
    for (let length = headBytes; ; length *= 8) {
      const bytes = yield* readAt(file, 0, length)
      const end = bytes.indexOf(newline)
      if (end >= 0) return textOf(bytes.subarray(0, end))
      if (length >= size || length >= longestHeader) return undefined
    }
  })

/** The last complete line; nothing when it is longer than a look at it may cost. */
export const lastLine = (file: FileSystem.File, size: number): Effect.Effect<string | undefined, PlatformError> =>
  Effect.map(readAt(file, Math.max(0, size - tailBytes), tailBytes), (bytes) => {
    const end = bytes.lastIndexOf(newline)
    if (end < 1) return undefined
    const start = bytes.lastIndexOf(newline, end - 1) + 1
    return start === 0 && size > tailBytes ? undefined : textOf(bytes.subarray(start, end))
  })

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** Up to `length` bytes; fewer only at the end of the file. */
const readAt = (file: FileSystem.File, offset: number, length: number): Effect.Effect<Uint8Array, PlatformError> =>
  Effect.gen(function* () {
    const bytes = new Uint8Array(length)
    let filled = 0
    yield* file.seek(offset, "start")
    while (filled < length) {
      const read = yield* file.readAlloc(length - filled)
      if (Option.isNone(read)) break
      bytes.set(read.value, filled)
      filled += read.value.length
    }
    return bytes.subarray(0, filled)
  })
