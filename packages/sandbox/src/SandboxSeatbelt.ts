/**
 * `Sandbox` over Seatbelt, for macOS: everything is allowed but to change files outside of what may be changed, to look at what is
 * hidden, and to use the network when it is off. `/tmp` is the folder of the session by its environment only, so it is `partial`.
 */
import { gitOf, guarded } from "@dsh/world/Confinement"
import type { Confinement } from "@dsh/world/Confinement"
import { Subprocess } from "@dsh/world/Subprocess"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { guardedIn } from "./Worktree.ts"
import { Sandbox, SandboxError, remedy } from "./Sandbox.ts"
import type { Ended, Verdict } from "./Sandbox.ts"

const runner = "/usr/bin/sandbox-exec"

export const make: Effect.Effect<Sandbox["Type"], never, Subprocess> = Effect.map(Subprocess, (subprocess) =>
  Sandbox.of({
    enforcement: "partial",
    confine: ({ argv, cwd }, confinement) =>
      Effect.mapBoth(subprocess.resolveExecutable(runner), {
        onSuccess: (path) => ({
          argv: [path, "-p", profile(confinement), ...argv],
          cwd,
          env: { TMPDIR: confinement.temp, TMP: confinement.temp, TEMP: confinement.temp },
          temp: confinement.temp
        }),
        onFailure: (cause) => unavailable(`commands cannot be confined because ${runner} is not there`, cause)
      }),
    judge
  })
)

export const layer: Layer.Layer<Sandbox, never, Subprocess> = Layer.effect(Sandbox, make)

const unavailable = (what: string, cause?: unknown): SandboxError =>
  new SandboxError({ code: "SANDBOX_UNAVAILABLE", message: `${what}; ${remedy}`, cause })

const judge = ({ exitCode, stderr, stdout }: Ended): Verdict => {
  if (exitCode === 0 || exitCode === null) return { kind: "ran" }
  const reason = /^sandbox-exec: (.*)$/.exec(stderr.trim())?.[1]
  if (stdout === "" && reason !== undefined) {
    return { kind: "unavailable", error: unavailable(`the command was not run, because Seatbelt failed: ${reason}`) }
  }
  return { kind: /operation not permitted/i.test(stderr) ? "denied" : "ran" }
}

/** The later of two rules that fit wins. */
export const profile = ({ commits = [], hidden, mode, network, shown, temp, workspace }: Confinement): string => {
  const writable = mode === "workspace-write" ? [workspace, temp, ...commits] : [temp]
  return [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    `(allow file-write* (literal "/dev/null") (literal "/dev/tty") ${writable.map(subpath).join(" ")})`,
    ...(mode === "workspace-write" ? [`(deny file-write* ${denied(workspace, commits)})`] : []),
    ...(hidden.length === 0 ? [] : [`(deny file-read* file-write* ${hidden.map(subpath).join(" ")})`]),
    ...(shown.length === 0 ? [] : [`(allow file-read* ${shown.map(subpath).join(" ")})`]),
    ...(network === "off" ? ["(deny network*)"] : [])
  ].join("\n")
}

const denied = (workspace: string, commits: ReadonlyArray<string>): string =>
  [
    `(literal ${JSON.stringify(gitOf(workspace))})`,
    ...guarded(workspace).map(subpath),
    ...commits.flatMap(guardedIn).map(subpath)
  ].join(" ")

const subpath = (path: string): string => `(subpath ${JSON.stringify(path)})`
