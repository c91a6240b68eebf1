/**
 * The file system of a confined command, as arguments of bubblewrap. Pure, but for a look at what is there.
 */
import { gitOf, guarded, isWithin } from "@dsh/world/Confinement"
import type { Confinement } from "@dsh/world/Confinement"
import { statSync } from "node:fs"
import { guardedIn, repository } from "../Worktree.ts"

interface Mount {
  /** As the command sees it. */
  readonly at: string
  readonly args: ReadonlyArray<string>
}

/** What of `/run` is looked into by programs that use the network. All else there are sockets of services that obey whoever connects. */
const names = ["systemd/resolve", "resolvconf", "NetworkManager", "nscd"]

/** Deeper ones come later, so that each holds within what is around it. */
export const of = (confinement: Confinement): ReadonlyArray<string> => [
  "--ro-bind",
  "/",
  "/",
  ...[...system, ...files(confinement)].sort(byDepth).flatMap(({ args }) => args)
]

const byDepth = (a: Mount, b: Mount): number => depth(a) - depth(b)
const depth = ({ at }: Mount): number => at.split("/").filter((part) => part !== "").length

const writable = (path: string): Mount => ({ at: path, args: ["--bind-try", path, path] })
const readable = (path: string): Mount => ({ at: path, args: ["--ro-bind-try", path, path] })

const system: ReadonlyArray<Mount> = [
  { at: "/dev", args: ["--dev", "/dev"] },
  { at: "/proc", args: ["--proc", "/proc"] },
  // Root may write these, whatever else it may not.
  ...["sys", "sysrq-trigger", "irq", "bus"].map((name) => readable(`/proc/${name}`)),
  { at: "/run", args: ["--tmpfs", "/run"] },
  ...names.map((name) => readable(`/run/${name}`))
]

const files = ({ commits = [], hidden, mode, shown, temp, workspace }: Confinement): ReadonlyArray<Mount> => [
  { at: "/tmp", args: ["--bind", temp, "/tmp"] },
  // A workspace that is read-only may still stand where something else is mounted over it.
  ...(mode === "workspace-write" ? [writable(workspace), ...guardedMounts(workspace)] : [readable(workspace)]),
  ...repository(commits).map(readable),
  ...(mode === "workspace-write" ? [...commits.map(writable), ...commits.flatMap(guardedIn).map(readable)] : []),
  ...hidden.flatMap((path) => masked(path, workspace)),
  ...shown.map(readable)
]

const guardedMounts = (workspace: string): ReadonlyArray<Mount> => {
  const git = gitOf(workspace)
  // A file says where the repository is. Nothing can be mounted below it.
  if (statSync(git, { throwIfNoEntry: false })?.isFile() === true) {
    return [git, ...guarded(workspace).filter((path) => !isWithin(path, git))].map(readable)
  }
  // Mounted on itself, so that it cannot be moved away from what is guarded in it.
  return [writable(git), ...guarded(workspace).map(readable)]
}

/** Nothing to mount over where nothing is, or where something is mounted over it already that is not the workspace. */
const masked = (path: string, workspace: string): ReadonlyArray<Mount> => {
  const isCovered = ["/tmp", "/run", "/proc", "/dev"].some((place) => isWithin(path, place))
  if (isCovered && !isWithin(path, workspace)) return []
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return []
  return [{ at: path, args: found.isDirectory() ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path] }]
}
