/**
 * What a command of the editor works on.
 */
import type { Session } from "@dsh/session/Session"
import type { Fs, FsTarget } from "@dsh/world/Fs"
import type { ObservedFiles, Sighting } from "../ObservedFiles.ts"

export interface Place {
  readonly fs: Fs["Type"]
  readonly observed: ObservedFiles["Type"]
  readonly session: Session | undefined
  readonly target: FsTarget
}

export interface Done {
  readonly text: string
  readonly observed?: Sighting
}
