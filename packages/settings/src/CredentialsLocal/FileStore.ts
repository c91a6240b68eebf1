/**
 * The file of credentials: who may read it, who may write it now, and that it is replaced as a whole.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { CredentialsError } from "../Credentials.ts"
import { empty } from "../Credentials/Store.ts"
import type { Content, Store } from "../Credentials/Store.ts"
import * as FileLock from "../DocumentFile/FileLock.ts"
import * as Replace from "../DocumentFile/Replace.ts"
import * as Watch from "../Watch.ts"

/** Somebody may be logging in while they hold it. */
const patienceMs = 30_000

const document = Effect.promise(() => import("./Content.ts"))

const failed =
  (code: "CREDENTIALS_UNREADABLE" | "CREDENTIALS_UNWRITABLE", file: string) => (error: { message: string }) =>
    new CredentialsError({
      code,
      message: `${file}: cannot be ${code === "CREDENTIALS_UNREADABLE" ? "read" : "written"}: ${error.message}`
    })

const exposed = (file: string, what: string, advice: string) =>
  new CredentialsError({ code: "CREDENTIALS_EXPOSED", message: `${file}: ${what}; run "chmod ${advice}"` })

/** Undefined while there is none. A file that others could have read is not trusted before that is mended. */
const readText = (file: string, fs: FileSystem.FileSystem) =>
  Effect.gen(function* () {
    const unreadable = failed("CREDENTIALS_UNREADABLE", file)
    if (!(yield* Effect.mapError(fs.exists(file), unreadable))) return undefined
    // Windows has no such bits.
    if (process.platform !== "win32") {
      const folder = Replace.folderOf(file)
      const [own, around] = yield* Effect.mapError(Effect.all([fs.stat(file), fs.stat(folder)]), unreadable)
      if ((own.mode & 0o077) !== 0) return yield* exposed(file, "others may read it", `600 ${file}`)
      if ((around.mode & 0o022) !== 0) {
        return yield* exposed(file, "others may write to its folder", `700 ${folder}`)
      }
    }
    return yield* Effect.mapError(fs.readFileString(file), unreadable)
  })

/** @param file Absolute. It does not have to exist. */
export const make = (file: string, fs: FileSystem.FileSystem): Store => {
  const folder = Replace.folderOf(file)
  const parsed = (text: string): Effect.Effect<Content, CredentialsError> =>
    Effect.flatMap(document, (Content) => Content.parse(file, text))
  const unwritable = failed("CREDENTIALS_UNWRITABLE", file)

  return {
    read: Effect.flatMap(readText(file, fs), (text) => (text === undefined ? Effect.succeed(empty) : parsed(text))),
    change: (make) =>
      Effect.gen(function* () {
        yield* Effect.mapError(fs.makeDirectory(folder, { recursive: true, mode: 0o700 }), unwritable)
        // A link stays one: dotfiles are kept elsewhere.
        const target = yield* Effect.orElseSucceed(fs.realPath(file), () => file)
        return yield* locked(
          target,
          Effect.gen(function* () {
            const text = (yield* readText(file, fs)) ?? ""
            const { change, value } = yield* make(yield* parsed(text))
            if (change === undefined) return value
            const { edited } = yield* document
            yield* Effect.mapError(Replace.text(target, yield* edited(file, text, change)), unwritable)
            return value
          })
        )
      }).pipe(Effect.provideService(FileSystem.FileSystem, fs)),
    touched: Watch.folder(folder, (name) => file.endsWith(`/${name}`))
  }
}

/** What goes wrong with the lock is told in our words; what goes wrong inside is passed on as it is. */
const locked = <A, E, R>(file: string, effect: Effect.Effect<A, E, R>) =>
  Effect.flatten(
    Effect.mapError(FileLock.holding(file, { patienceMs })(Effect.either(effect)), ({ code, message }) => {
      const isLocked = code === "SETTINGS_LOCKED"
      return new CredentialsError({ code: isLocked ? "CREDENTIALS_LOCKED" : "CREDENTIALS_UNWRITABLE", message })
    })
  )
