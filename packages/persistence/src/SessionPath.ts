/**
 * Where a session lives under the root: a folder per project, a folder per session. Pure text; the same on every platform.
 */

const escape = (unit: string): string => `~${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`

// Per UTF-16 unit, so that lone surrogates have a name of their own, too.
const escapeUnsafe = (text: string): string => text.replace(/[^A-Za-z0-9._-]/g, escape)

/** What most file systems allow in one name. */
const longestName = 255

/**
 * The folder of a session: its id, escaped. Two ids never share one. Nothing for an id that cannot name a folder: an empty one, or
 * one that comes out longer than a file name may be.
 */
export const segment = (id: string): string | undefined => {
  // These two mean something else to every file system.
  const name = id === "." || id === ".." ? id.replaceAll(".", escape) : escapeUnsafe(id)
  return name === "" || name.length > longestName ? undefined : name
}

/** The folder of a project: its path, readable and lossy on purpose. It groups sessions for people; nothing is looked up by it. */
export const project = (cwd: string | undefined): string => {
  if (cwd === undefined) return "_no-cwd"
  const slug = escapeUnsafe(cwd.replace(/[/\\:]+/g, "-")).replace(/^-+/, "")
  return `--${(slug === "" ? "root" : slug).slice(0, longestName - 4)}--`
}
