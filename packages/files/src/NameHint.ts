/**
 * For a file that is not there: the one that was probably meant.
 */
import type { Fs, FsTarget } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import { basename, dirname, join, parse } from "node:path"

const maxHints = 3

/** A sentence to append to a message, or nothing. Never fails: it is only a hint. */
export const of = (fs: Fs["Type"], missing: FsTarget): Effect.Effect<string> => {
  const folder = dirname(missing.displayPath)
  return fs.resolve(folder, { cwd: folder }).pipe(
    Effect.flatMap((target) => fs.listDir(target)),
    Effect.map((entries) => {
      const similar = entries.flatMap(({ name }) => (isSimilar(name, basename(missing.displayPath)) ? [name] : []))
      const paths = similar.slice(0, maxHints).map((name) => join(folder, name))
      return paths.length === 0 ? "" : `; did you mean ${paths.join(" or ")}?`
    }),
    Effect.orElseSucceed(() => "; look for it with glob or ls")
  )
}

// Another case, or another extension.
const isSimilar = (a: string, b: string): boolean => parse(a.toLowerCase()).name === parse(b.toLowerCase()).name
