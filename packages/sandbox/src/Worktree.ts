/**
 * Where git writes when it commits in a linked worktree: outside of it, in the repository that it belongs to.
 *
 * A `.git` that is a file names that place, and whoever may change the workspace could have written it. So it counts only when the place
 * names the workspace in turn, which nobody confined to the workspace can make it do.
 */
import * as Fs from "node:fs"
import { basename, dirname, join, resolve } from "node:path"

/** Canonical; none when `workspace`, canonical, is no linked worktree. What runs programs (hooks, configuration) is not among them. */
export const commitFolders = (workspace: string): ReadonlyArray<string> => {
  const own = folderNamedBy(join(workspace, ".git"), /^gitdir: (.+)$/m)
  if (own === undefined) return []
  const owner = folderNamedBy(join(own, "gitdir"), /^(.+)\/\.git$/m)
  const common = folderNamedBy(join(own, "commondir"), /^(.+)$/m)
  if (owner !== workspace || common === undefined || dirname(own) !== join(common, "worktrees")) return []
  return [own, ...["objects", "refs", "logs"].map((name) => join(common, name))]
}

/** The repository that such folders are of, for whoever has to see it all. */
export const repository = ([own]: ReadonlyArray<string>): ReadonlyArray<string> =>
  own === undefined ? [] : [dirname(dirname(own))]

/** In the folder of a worktree, what says where its repository is, and how git is to behave there. */
export const guardedIn = (folder: string): ReadonlyArray<string> =>
  basename(dirname(folder)) === "worktrees"
    ? ["commondir", "gitdir", "config.worktree"].map((name) => join(folder, name))
    : []

/** The folder whose path a file holds, against the folder of the file; undefined when there is no such thing. */
const folderNamedBy = (file: string, pattern: RegExp): string | undefined => {
  try {
    const named = pattern.exec(Fs.readFileSync(file, "utf8"))?.[1]
    return named === undefined ? undefined : Fs.realpathSync.native(resolve(dirname(file), named))
  } catch {
    // A folder in place of the file: the usual repository. Or nothing that git could use.
    return undefined
  }
}
