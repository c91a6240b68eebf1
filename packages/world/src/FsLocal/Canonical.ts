/**
 * The one true path of a place, also of one that does not exist yet.
 */
import * as Path from "node:path"
import { errnoOf } from "./Failure.ts"
import * as Look from "./Look.ts"

// As many as Linux follows.
const maxLinks = 40

/** `path` against `cwd`, left as it is otherwise: `link/..` is for the system to understand, not for string arithmetic. */
export const absolute = (path: string, cwd: string): string =>
  Path.isAbsolute(path) ? path : `${Path.resolve(cwd)}${Path.sep}${path}`

/**
 * The real path of the deepest existing ancestor plus what is missing below it. A dangling link stands for the place it points to.
 * Throws what `node:fs` throws.
 */
export const canonical = async (path: string, links = 0): Promise<string> => {
  try {
    return await Look.realpath(path)
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT" || Path.dirname(path) === path) throw cause
  }
  const parent = await canonical(Path.dirname(path), links)
  const place = Path.join(parent, Path.basename(path))
  const destination = links < maxLinks ? await linkAt(place) : undefined
  return destination === undefined ? place : canonical(Path.resolve(parent, destination), links + 1)
}

const linkAt = async (path: string): Promise<string | undefined> => {
  try {
    return await Look.readlink(path)
  } catch {
    return undefined
  }
}
