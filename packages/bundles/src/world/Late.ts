/**
 * Programs of this machine, for compositions that may never run one.
 */
import * as Late from "@dsh/kernel/Late"
import type { Sandbox } from "@dsh/sandbox/Sandbox"
import type { SandboxPolicy } from "@dsh/sandbox/SandboxPolicy"
import type { Options } from "@dsh/shell/BashSandbox"
import { Shell } from "@dsh/shell/Shell"
import type { Fs } from "@dsh/world/Fs"
import { Subprocess } from "@dsh/world/Subprocess"
import type * as Layer from "effect/Layer"

const load = () => import("./Programs.ts")

const programs = ["spawn", "openPty", "resolveExecutable"] as const

export const local: Layer.Layer<Subprocess> = Late.layer(Subprocess, programs, () => load().then((all) => all.local))

export const confined: Layer.Layer<Subprocess, never, Sandbox | SandboxPolicy | Fs> = Late.layer(
  Subprocess,
  programs,
  () => load().then((all) => all.confined)
)

export const bash = (options: Options): Layer.Layer<Shell, never, Subprocess | Sandbox> =>
  Late.layer(Shell, ["run", "start"], () => load().then((all) => all.bash(options)))
