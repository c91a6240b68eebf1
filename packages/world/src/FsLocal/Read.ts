/**
 * Reading regular files, and nothing else: opening a pipe or a device could block for ever or never end.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { constants } from "node:fs"
import * as NodeFs from "node:fs/promises"
import { FsError } from "../Fs.ts"
import * as Failure from "./Failure.ts"

const pieceBytes = 256 * 1024

const open = (path: string, name: string): Effect.Effect<NodeFs.FileHandle, FsError> =>
  Effect.tryPromise({
    try: async () => {
      // Non-blocking, because something may have put a pipe here since anybody looked.
      const handle = await NodeFs.open(path, constants.O_RDONLY | constants.O_NONBLOCK)
      const stat = await handle.stat()
      if (stat.isFile()) return handle
      await handle.close()
      throw notRegular(name, stat.isDirectory())
    },
    catch: Failure.from(name)
  })

export const notRegular = (name: string, isDirectory: boolean): FsError =>
  new FsError({
    code: "FS_NOT_REGULAR_FILE",
    message: `${name} is ${isDirectory ? "a directory" : "a device, pipe or socket"}, not a file`
  })

const close = (handle: NodeFs.FileHandle) => Effect.ignore(Effect.tryPromise(() => handle.close()))

/** The content of the file at `path`, called `name` in errors. */
export const all = (path: string, name: string, maxBytes = Infinity): Effect.Effect<Uint8Array, FsError> =>
  Effect.acquireUseRelease(
    open(path, name),
    (handle) =>
      Effect.tryPromise({
        try: async (signal) => {
          const pieces: Array<Buffer> = []
          let size = 0
          // Sized by what is read, not by what stat says: the file may grow, and files in /proc claim to be empty.
          for (let piece = await next(handle); piece !== undefined && !signal.aborted; piece = await next(handle)) {
            size += piece.length
            if (size > maxBytes) throw tooLarge(name, maxBytes)
            pieces.push(piece)
          }
          return Buffer.concat(pieces)
        },
        catch: Failure.from(name)
      }),
    close
  )

export const stream = (path: string, name: string): Stream.Stream<Uint8Array, FsError> =>
  Stream.acquireRelease(open(path, name), close).pipe(
    Stream.flatMap((handle) =>
      Stream.repeatEffectOption(
        Effect.tryPromise({ try: () => next(handle), catch: (cause) => Option.some(Failure.from(name)(cause)) }).pipe(
          Effect.filterOrFail(
            (piece) => piece !== undefined,
            () => Option.none<FsError>()
          )
        )
      )
    )
  )

const next = async (handle: NodeFs.FileHandle): Promise<Buffer | undefined> => {
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, null)
  return bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead)
}

const tooLarge = (name: string, maxBytes: number): FsError =>
  new FsError({
    code: "FS_TOO_LARGE",
    message: `${name} is larger than ${maxBytes} bytes; work on a part of it, or use a command`
  })
