/**
 * The folder that a task has to itself: what it is called, and what it was when it was made.
 *
 * The latter is kept beside it. A folder of which nothing is known was not made to its end, and nobody has worked in it.
 */
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** The id of the task, as far as that can be a name, and what tells it from others that look alike. */
export const nameOf = (id: string): string => {
  const readable = id
    .replaceAll(/[^\w.-]+/g, "-")
    .replace(/^[.-]+/, "")
    .slice(0, 60)
  return readable === id ? id : `${readable}-${createHash("sha256").update(id).digest("hex").slice(0, 8)}`
}

const fileOf = (root: string, name: string): string => join(root, ".base", name)

export const baseOf = (root: string, name: string): string | undefined => {
  try {
    return readFileSync(fileOf(root, name), "utf8")
  } catch {
    return undefined
  }
}

export const keepBase = (root: string, name: string, base: string): void => {
  const file = fileOf(root, name)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(`${file}.partial`, base)
  renameSync(`${file}.partial`, file)
}
