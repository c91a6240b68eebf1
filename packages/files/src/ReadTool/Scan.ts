/**
 * One look at a file: the lines that are wanted, how many there are, in which encoding, and of which content.
 */
import * as ContentVersion from "@dsh/world/ContentVersion"
import type { Fs, FsError, FsTarget } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import * as FileTool from "../FileTool.ts"
import * as TextFile from "../TextFile.ts"
import * as LegacyText from "@dsh/world/LegacyText"
import * as Decoding from "./Decoding.ts"
import * as LineWindow from "./LineWindow.ts"
import * as Validity from "./Validity.ts"

export interface Scan {
  readonly window: LineWindow.Window
  readonly encoding: TextFile.Encoding
  readonly version: ContentVersion.ContentVersion
}

/** Of a file of any size. Fails with `FS_NOT_TEXT` and as `Fs` does. */
export const scan = (fs: Fs["Type"], target: FsTarget, limits: LineWindow.Limits): Effect.Effect<Scan, FsError> =>
  Effect.flatMap(pass(fs, target, limits), ({ isValid, ...seen }) =>
    isValid
      ? Effect.succeed(seen)
      : Effect.catchIf(
          again(fs, target, limits),
          ({ code }) => code === "FS_TOO_LARGE",
          () => Effect.succeed({ ...seen, encoding: "unknown" as const })
        )
  )

// One pass over the whole file, because the version is that of the whole file, and so is the number of lines.
const pass = Effect.fnUntraced(function* (
  fs: Fs["Type"],
  target: FsTarget,
  limits: LineWindow.Limits
): Effect.fn.Return<Scan & { readonly isValid: boolean }, FsError> {
  const hasher = ContentVersion.hasher()
  const window = LineWindow.make(limits)
  const validity = Validity.make()
  const take = (bytes: Uint8Array) => {
    window.push(bytes)
    validity.push(bytes)
  }
  let decoding: Decoding.Decoding | undefined
  yield* Stream.runForEach(fs.streamBytes(target), (bytes) => {
    if (decoding === undefined) {
      const opened = Decoding.of(bytes)
      if (Either.isLeft(opened)) return Effect.fail(FileTool.notText(target, opened.left))
      decoding = opened.right
    }
    hasher.update(bytes)
    take(decoding.decode(bytes))
    return Effect.void
  })
  if (decoding !== undefined) take(decoding.end())
  return {
    window: window.end(),
    encoding: decoding?.encoding ?? "utf-8",
    version: hasher.digest(),
    isValid: validity.end()
  }
})

// What else it may be is told by the whole, just as when it is edited.
const again = Effect.fnUntraced(function* (
  fs: Fs["Type"],
  target: FsTarget,
  limits: LineWindow.Limits
): Effect.fn.Return<Scan, FsError> {
  const content = yield* fs.readBytes(target, { maxBytes: LegacyText.maxBytes })
  const file = yield* FileTool.opened(target, content)
  const window = LineWindow.make(limits)
  window.push(Buffer.from(TextFile.textOf(file, file.units)))
  return { window: window.end(), encoding: file.encoding, version: content.version }
})
