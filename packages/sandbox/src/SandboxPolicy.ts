/**
 * What each session may do: its mode is the last one its log names, else the standing one; its workspace is the folder it was made in.
 */
import type { Session } from "@dsh/session/Session"
import type { SessionError } from "@dsh/session/SessionError"
import type { Confinement, SandboxMode } from "@dsh/world/Confinement"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { SandboxError } from "./Sandbox.ts"
import type { Source } from "./SandboxMode.ts"

export class SandboxPolicy extends Context.Tag("@dsh/sandbox/SandboxPolicy")<
  SandboxPolicy,
  {
    /** For whatever does not belong to a session. */
    readonly standing: Effect.Effect<Confinement, SandboxError>
    /** As it is now. Fails with `SANDBOX_UNAVAILABLE` when the session cannot have a `/tmp` of its own. */
    readonly of: (session: Session) => Effect.Effect<Confinement, SandboxError>
    readonly mode: (session: Session) => SandboxMode
    /** Logs another mode, for the calls that begin from here on. Nothing when it is that already. */
    readonly setMode: (session: Session, mode: SandboxMode, source?: Source) => Effect.Effect<void, SessionError>
  }
>() {}
