/**
 * Files as a rule describes them. A relative pattern starts at the workspace folder and never leaves it; one without a slash speaks of
 * files of that name in any folder of the workspace; `~/` and `/` are what they are everywhere.
 */
import picomatch from "picomatch"

export interface Place {
  /** Absolute, without `..`. */
  readonly path: string
  /** The workspace folder, in the same form. */
  readonly root: string
  readonly home: string
}

const options = { dot: true, nonegate: true } as const

/** A pattern for exactly this path. */
export const escape = (path: string): string => path.replaceAll(/[\\*?[\]{}()!+@|]/g, String.raw`\$&`)

export const matches = (glob: string, { home, path, root }: Place): boolean => {
  if (glob.startsWith("~/")) return picomatch(escape(home) + glob.slice(1), options)(path)
  if (glob.startsWith("/")) return picomatch(glob, options)(path)
  if (path !== root && !path.startsWith(root.endsWith("/") ? root : `${root}/`)) return false
  const inside = path.slice(root.length).replace(/^\//, "")
  const pattern = glob.includes("/") ? glob.replace(/^\.\//, "") : `**/${glob}`
  return picomatch(pattern, options)(inside)
}
