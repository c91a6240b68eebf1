/**
 * Which paths of a workspace are watched: not what git ignores, not the folders of version control, not installed packages, not what is
 * the product's own. And of which the content is never kept: whatever looks like a key.
 */
import ignore from "ignore"
import type { Ignore } from "ignore"

const unwatched = new Set([".git", ".hg", ".svn", ".jj", "node_modules"])

const secret =
  /^(?:\.env(?:\..*)?|\.netrc|\.npmrc|\.pypirc|\.pgpass|id_(?:rsa|dsa|ecdsa|ed25519)|.*\.(?:pem|key|p12|pfx|keystore))$/i

/** Whether its name says that it holds keys. `.env.example` and the like hold none. */
export const isSecret = (path: string): boolean => {
  const name = path.slice(path.lastIndexOf("/") + 1)
  return secret.test(name) && !/\.(?:example|sample|template|dist|pub)$/i.test(name)
}

/** What is being written at this moment, by whomever. */
const staged = /^\.dsh-(?:write|rewind)-/

/** Whether a name on the path is never looked at. */
export const isOutside = (path: string): boolean =>
  path.split("/").some((name) => unwatched.has(name) || staged.test(name))

/** The ignore files that were met on a walk, each for what is below it. */
export class Rules {
  readonly #byFolder = new Map<string, Ignore>()
  readonly #texts = new Map<string, string>()

  /** @param folder Relative, `""` for the workspace itself. */
  add(folder: string, text: string): void {
    if (text.trim() === "") return
    const rules = this.#byFolder.get(folder) ?? ignore()
    this.#byFolder.set(folder, rules.add(text))
    this.#texts.set(folder, `${this.#texts.get(folder) ?? ""}\n${text}`)
  }

  /** What was added for the folder. */
  textOf(folder: string): string | undefined {
    return this.#texts.get(folder)
  }

  /** Whether one of the folders above, or the path itself, is ignored. A folder's path ends in `/`. */
  ignores(path: string): boolean {
    for (let end = path.indexOf("/"); end >= 0 && end < path.length - 1; end = path.indexOf("/", end + 1)) {
      if (this.decide(path.slice(0, end + 1))) return true
    }
    return this.decide(path)
  }

  /** Whether the path itself is, given that nothing above it is. The ignore file that is nearest has the last word. */
  decide(path: string): boolean {
    if (this.#byFolder.size === 0) return false
    const inner = path.endsWith("/") ? path.slice(0, -1) : path
    for (let at = inner.lastIndexOf("/"); ; at = inner.lastIndexOf("/", at - 1)) {
      const folder = at < 0 ? "" : inner.slice(0, at)
      const rules = this.#byFolder.get(folder)
      if (rules !== undefined) {
        const { ignored, unignored } = rules.test(at < 0 ? path : path.slice(at + 1))
        if (ignored) return true
        if (unignored) return false
      }
      if (at <= 0) return false
    }
  }
}
