/**
 * What a folder was when it was made, kept beside it: a folder of which nothing is known was not made to its end, and nobody has worked
 * in it.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

const fileOf = (root: string, name: string): string => join(root, ".base", name)

export const read = (root: string, name: string): string | undefined => {
  try {
    return readFileSync(fileOf(root, name), "utf8")
  } catch {
    return undefined
  }
}

export const write = (root: string, name: string, base: string): void => {
  const file = fileOf(root, name)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(`${file}.partial`, base)
  renameSync(`${file}.partial`, file)
}
