/**
 * `Sandbox` over bubblewrap, for Linux: all of the file system can be read and what may be changed is mounted writable over it. What is
 * confined sees no other processes, no sockets of the system's services, and its own `/tmp`.
 *
 * It is not bound to the life of its parent, because that would take from a command the time between TERM and KILL; the process tree
 * ends with its group, and the rest of its process namespace with it.
 */
import type { Confinement } from "@dsh/world/Confinement"
import { Subprocess } from "@dsh/world/Subprocess"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Sandbox, SandboxError, remedy } from "./Sandbox.ts"
import type { Command, Ended, Verdict } from "./Sandbox.ts"
import * as Mounts from "./SandboxBwrap/Mounts.ts"

export interface Options {
  /** Name or absolute path. Default `bwrap`. */
  readonly runner?: string
}

const install = "install bubblewrap (Debian and Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap)"

const unavailable = (what: string, cause?: unknown): SandboxError =>
  new SandboxError({ code: "SANDBOX_UNAVAILABLE", message: `${what}; ${install}, or ${remedy}`, cause })

export const make = ({ runner = "bwrap" }: Options = {}): Effect.Effect<Sandbox["Type"], never, Subprocess> =>
  Effect.gen(function* () {
    const subprocess = yield* Subprocess
    // Looked up once it is needed: most runs that only talk never start anything.
    const program = yield* Effect.cached(
      Effect.mapError(subprocess.resolveExecutable(runner), (cause) =>
        unavailable(`commands cannot be confined because "${runner}" is not there`, cause)
      )
    )
    return Sandbox.of({
      enforcement: "full",
      confine: (command, confinement) =>
        Effect.map(program, (path) => ({
          argv: [path, ...arguments_(command, confinement), "--", ...command.argv],
          // Of the runner itself; the command's own is given to it.
          cwd: "/",
          env: { TMPDIR: "/tmp", TMP: "/tmp", TEMP: "/tmp" },
          temp: "/tmp"
        })),
      judge
    })
  })

export const layer = (options?: Options): Layer.Layer<Sandbox, never, Subprocess> =>
  Layer.effect(Sandbox, make(options))

// No `--new-session`: a command has a session of its own already and no terminal. A shell on a terminal keeps that, and job control. What
// it can push into the terminal's input (TIOCSTI) it reads again itself: the terminal is its own, not that of the user.
//
// The user namespace and the dropped capabilities are for root, who would otherwise undo every mount.
const namespaces = ["--unshare-user", "--cap-drop", "ALL", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]

const arguments_ = ({ cwd }: Command, confinement: Confinement): ReadonlyArray<string> => [
  ...namespaces,
  ...(confinement.network === "off" ? ["--unshare-net"] : []),
  ...Mounts.of(confinement),
  "--chdir",
  cwd
]

const denial = /read-only file system/i

// The runner says one line and nothing else when it does not come as far as the command.
const failure = /^bwrap: (.*)$/

const judge = ({ exitCode, stderr, stdout }: Ended): Verdict => {
  if (exitCode === 0 || exitCode === null) return { kind: "ran" }
  const reason = failure.exec(stderr.trim())?.[1]
  if (exitCode === 1 && stdout === "" && reason !== undefined && !reason.startsWith("execvp ")) {
    return { kind: "unavailable", error: unavailable(`the command was not run, because bwrap failed: ${reason}`) }
  }
  return { kind: denial.test(stderr) ? "denied" : "ran" }
}
