/**
 * `SandboxPolicy` over folders of this machine.
 */
import type { Session } from "@dsh/session/Session"
import type { Confinement, SandboxMode as Mode } from "@dsh/world/Confinement"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as SandboxMode from "./SandboxMode.ts"
import { SandboxPolicy } from "./SandboxPolicy.ts"
import * as SessionFolders from "./SandboxPolicyLocal/SessionFolders.ts"

export interface Options {
  /** Of sessions that name none. Default `read-only`, the one that can do no harm. */
  readonly mode?: Mode
  /** Default `on`. */
  readonly network?: Confinement["network"]
  /** For calls outside of a session, and for sessions without a folder. Default: that of the process. */
  readonly workspace?: string
  /** Files and folders nobody confined may look at, absolute. */
  readonly hidden?: ReadonlyArray<string>
  /** What a session may look at inside of those. */
  readonly shown?: (session: Session) => ReadonlyArray<string>
  /** Where the folders are made that sessions have as `/tmp`. Default: a private one in the system's temporary folder. */
  readonly tempParent?: string
}

export const make = (options: Options = {}): Effect.Effect<SandboxPolicy["Type"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const { hidden = [], mode: standingMode = "read-only", network = "on", shown = () => [] } = options
    const folders = yield* SessionFolders.make(options)
    const modeOf = (session: Session): Mode => SandboxMode.of(session) ?? standingMode

    return SandboxPolicy.of({
      standing: Effect.map(folders.standing, (places) => ({
        ...places,
        mode: standingMode,
        network,
        hidden,
        shown: []
      })),
      of: (session) =>
        Effect.map(folders.of(session), (places) => ({
          ...places,
          mode: modeOf(session),
          network,
          hidden,
          shown: shown(session)
        })),
      mode: modeOf,
      setMode: (session, mode, source) =>
        Effect.suspend(() => (modeOf(session) === mode ? Effect.void : SandboxMode.set(session, mode, source)))
    })
  })

export const layer = (options?: Options): Layer.Layer<SandboxPolicy> => Layer.scoped(SandboxPolicy, make(options))
