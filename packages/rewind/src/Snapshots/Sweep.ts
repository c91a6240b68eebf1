/**
 * Clearing the store: what no session needs any more, and what is beyond its size.
 */
import * as Fs from "node:fs"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"

/** A content may be there a moment before anybody says that it is needed. */
const graceMs = 60 * 60 * 1000
const everyMs = 24 * 60 * 60 * 1000

export const referencesOf = (root: string, session: string): string =>
  join(root, "sessions", encodeURIComponent(session))

const markOf = (root: string) => join(root, "swept")

export const isDue = (root: string): boolean => {
  const mark = Fs.statSync(markOf(root), { throwIfNoEntry: false })
  return mark === undefined || Date.now() - mark.mtimeMs > everyMs
}

interface References {
  readonly path: string
  readonly used: number
  readonly hashes: ReadonlySet<string>
}

interface Content {
  readonly path: string
  readonly size: number
  readonly isNew: boolean
}

export const run = async (root: string, maxBytes: number, exists: (session: string) => boolean): Promise<void> => {
  if (!Fs.existsSync(root)) return
  Fs.writeFileSync(markOf(root), "", { mode: 0o600 })
  const contents = await contentsOf(root)
  const sessions: Array<References> = []
  for (const name of namesIn(join(root, "sessions"))) {
    const path = join(root, "sessions", name)
    if (exists(decodeURIComponent(name))) sessions.push(read(path))
    else Fs.rmSync(path, { force: true })
  }
  // Last used first, for as long as there is room.
  sessions.sort((a, b) => b.used - a.used)
  const needed = new Set<string>()
  let bytes = 0
  for (const { hashes, path } of sessions) {
    const more = [...hashes].filter((hash) => !needed.has(hash) && contents.has(hash))
    const size = more.reduce((sum, hash) => sum + (contents.get(hash)?.size ?? 0), 0)
    if (bytes + size > maxBytes) {
      Fs.rmSync(path, { force: true })
      continue
    }
    bytes += size
    for (const hash of more) needed.add(hash)
  }
  for (const [hash, { isNew, path }] of contents) if (!isNew && !needed.has(hash)) Fs.rmSync(path, { force: true })
}

const read = (path: string): References => ({
  path,
  used: Fs.statSync(path).mtimeMs,
  hashes: new Set(Fs.readFileSync(path, "utf8").split("\n").filter(Boolean))
})

const contentsOf = async (root: string): Promise<Map<string, Content>> => {
  const contents = new Map<string, Content>()
  const folder = join(root, "objects")
  for (const start of namesIn(folder)) {
    for (const rest of namesIn(join(folder, start))) {
      const path = join(folder, start, rest)
      const stat = Fs.statSync(path, { throwIfNoEntry: false })
      if (stat === undefined) continue
      contents.set(`${start}${rest}`, { path, size: stat.size, isNew: Date.now() - stat.mtimeMs < graceMs })
    }
    await setImmediate()
  }
  return contents
}

const namesIn = (folder: string): ReadonlyArray<string> => {
  try {
    return Fs.readdirSync(folder)
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return []
    throw cause
  }
}
