/**
 * What a call may do to the world: files it may change, places it may not see, and whether there is a network.
 *
 * It is ambient to a tool call, so no tool has to pass it on and none can forget it. Providers that confine read it from the fiber that
 * calls them; those that do not (`FsLocal`, `SubprocessLocal`) never look.
 */
import * as Context from "effect/Context"

export const modes = ["read-only", "workspace-write", "danger-full-access"] as const

/** `danger-full-access` is no confinement at all. */
export type SandboxMode = (typeof modes)[number]

export interface Confinement {
  readonly mode: SandboxMode
  /** The folder that `workspace-write` may change; canonical. */
  readonly workspace: string
  readonly network: "on" | "off"
  /** The real folder that is `/tmp` for whoever is confined, and may be changed in every mode; canonical. */
  readonly temp: string
  /** Files and folders nobody confined may look at; absolute. They need not exist. */
  readonly hidden: ReadonlyArray<string>
  /** Folders inside of hidden ones that may be looked at, and not changed; absolute. */
  readonly shown: ReadonlyArray<string>
  /** Folders outside of the workspace that git changes when it commits there; for commands, in mode `workspace-write`. Canonical. */
  readonly commits?: ReadonlyArray<string>
}

/** The confinement of the call that the fiber is at work for; undefined: none. */
export class CurrentConfinement extends Context.Reference<CurrentConfinement>()("@dsh/world/CurrentConfinement", {
  defaultValue: (): Confinement | undefined => undefined
}) {}

/** Whether `path` is `folder` or below it; both canonical. */
export const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`)

/** What git knows a workspace by. */
export const gitOf = (workspace: string): string => (workspace === "/" ? "/.git" : `${workspace}/.git`)

/** What programs run when somebody else works with the workspace: whoever could change them would be unconfined then. */
export const guarded = (workspace: string): ReadonlyArray<string> =>
  [".git/hooks", ".git/config", ".dsh"].map((name) => `${workspace === "/" ? "" : workspace}/${name}`)

/** Whether `path`, a canonical one, may not be looked at. */
export const isHidden = ({ hidden, shown }: Confinement, path: string): boolean =>
  hidden.some((place) => isWithin(path, place)) && !shown.some((place) => isWithin(path, place))

/** Whether `path`, a canonical one, may be changed. */
export const isWritable = (confinement: Confinement, path: string): boolean => {
  const { mode, temp, workspace } = confinement
  if (mode === "danger-full-access") return true
  if (isHidden(confinement, path)) return false
  if (isWithin(path, temp)) return true
  if (mode === "read-only" || !isWithin(path, workspace)) return false
  // As a file it names a repository, which could be made to run programs.
  if (path === gitOf(workspace)) return false
  return !guarded(workspace).some((place) => isWithin(path, place))
}
