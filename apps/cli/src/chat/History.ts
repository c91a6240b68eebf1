/**
 * What was typed before, over the ends of sessions: a line of JSON each in the home folder.
 */
import * as Effect from "effect/Effect"
import { appendFile, mkdir, readFile, rename, writeFile } from "node:fs/promises"
import { dirname } from "node:path"

/** That many are offered, and kept when the file is cut. */
const kept = 100

const lineOf = (text: string): string => `${JSON.stringify(text)}\n`

const parse = (line: string): ReadonlyArray<string> => {
  try {
    const text: unknown = JSON.parse(line)
    return typeof text === "string" ? [text] : []
  } catch {
    return []
  }
}

/** Oldest first. What cannot be read is nothing: no one is kept from working by it. */
export const load = (file: string): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function* () {
    const content = yield* Effect.promise(() => readFile(file, "utf8").catch(() => ""))
    const texts = content.split("\n").flatMap(parse)
    if (texts.length <= 2 * kept) return texts.slice(-kept)
    const latest = texts.slice(-kept)
    const partial = `${file}.${process.pid}`
    const cut = async (): Promise<void> => {
      await writeFile(partial, latest.map(lineOf).join(""), { mode: 0o600 })
      await rename(partial, file)
    }
    yield* Effect.promise(() => cut().catch(() => {}))
    return latest
  })

export const add = (file: string, text: string): Effect.Effect<void> =>
  Effect.promise(async () => {
    await mkdir(dirname(file), { recursive: true }).catch(() => {})
    await appendFile(file, lineOf(text), { mode: 0o600 }).catch(() => {})
  })
