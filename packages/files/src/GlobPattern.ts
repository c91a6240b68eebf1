/**
 * Which files a pattern names. A pattern without a slash is about names, wherever they are; one with a slash is about paths from the
 * folder that is searched.
 *
 * Not left to ripgrep alone: what its `--glob` names is found even if it is ignored.
 */
import { ToolError } from "@dsh/tools/ToolError"
import * as Effect from "effect/Effect"

export interface GlobPattern {
  /** Of a path from the folder that is searched. */
  readonly matches: (path: string) => boolean
  /** Arguments that keep ripgrep from listing much that does not match; nothing that matches is lost. */
  readonly args: ReadonlyArray<string>
}

/** Longer ones are no patterns but mistakes. */
const longest = 2000

/** `root`: absolute; a pattern that begins with it is meant from there. */
export const parse = Effect.fnUntraced(function* (
  pattern: string,
  root: string
): Effect.fn.Return<GlobPattern, ToolError> {
  const refusal = refuse(pattern)
  if (refusal !== undefined) return yield* invalid(`"${pattern.slice(0, 200)}" ${refusal}`)
  const fromRoot = pattern.startsWith(root === "/" ? root : `${root}/`) ? pattern.slice(root.length) : pattern
  const bare = fromRoot.replace(/^(\.?\/)+/, "")
  // A slash that was there said where to look, even if nothing is left before it.
  const isAnchored = bare !== fromRoot || bare.includes("/")
  // Most runs search nothing, and this is a library of its own.
  const { Minimatch } = yield* Effect.promise(() => import("minimatch"))
  const matcher = new Minimatch(bare, { dot: true, matchBase: !isAnchored, nonegate: true, nocomment: true })
  return { matches: (path) => matcher.match(path), args: nameArgs(bare) }
})

const refuse = (pattern: string): string | undefined => {
  if (pattern.length > longest) return `is longer than ${longest} characters`
  if (pattern.includes("\0")) return "holds a NUL"
  if (pattern.startsWith("!")) return "begins with !; say which files you want, not which you do not"
  if (/(^|\/)\.\.(\/|$)/.test(pattern)) return "leads out of the folder that is searched; pass that folder as path"
  if (pattern.startsWith("~")) return "begins with ~, which is not expanded; pass the folder as path"
  return hasBareComma(pattern) ? "is a list; put it in braces, as in *.{ts,tsx}" : undefined
}

const hasBareComma = (pattern: string): boolean => {
  let depth = 0
  for (const char of pattern.replaceAll(/\\./g, "")) {
    if (char === "{" || char === "[") depth++
    else if (char === "}" || char === "]") depth--
    else if (char === "," && depth <= 0) return true
  }
  return false
}

/** What both libraries take for the same, and only that. */
const plainName = /^[\w.*?-]*(\{[\w-]+(\.[\w-]+)*(,[\w-]+(\.[\w-]+)*)+\})?[\w.*?-]*$/

/** The last part of a pattern is about names, and those a type of ripgrep can be made of. */
const nameArgs = (pattern: string): ReadonlyArray<string> => {
  const name = /(?:^|\/)([^/]*)$/.exec(pattern)?.[1] ?? ""
  const before = pattern.slice(0, pattern.length - name.length)
  if (/[{}[\]()\\]/.test(before) || !plainName.test(name)) return []
  return /^\**$/.test(name) ? [] : [`--type-add=wanted:${name}`, "--type=wanted"]
}

const invalid = (message: string): ToolError =>
  new ToolError({ code: "SEARCH_INVALID_PATTERN", message: `the pattern ${message}` })
